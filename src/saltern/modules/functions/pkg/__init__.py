"""``pkg``: packages of the machine's package manager.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "add_repo_key": "repos",
    "autoremove": "modify",
    "available_version": "query",
    "del_repo": "repos",
    "del_repo_key": "repos",
    "file_dict": "query",
    "file_list": "query",
    "get_repo": "repos",
    "get_repo_keys": "repos",
    "get_selections": "query",
    "group_diff": "groups",
    "group_info": "groups",
    "group_install": "groups",
    "group_list": "groups",
    "hold": "modify",
    "info_installed": "query",
    "install": "modify",
    "latest_version": "query",
    "list_holds": "query",
    "list_pkgs": "query",
    "list_repo_pkgs": "query",
    "list_repos": "repos",
    "list_upgrades": "query",
    "mod_repo": "repos",
    "normalize_name": "query",
    "owner": "query",
    "purge": "modify",
    "refresh_db": "modify",
    "remove": "modify",
    "unhold": "modify",
    "upgrade": "modify",
    "upgrade_available": "query",
    "version": "query",
    "version_cmp": "query",
}
