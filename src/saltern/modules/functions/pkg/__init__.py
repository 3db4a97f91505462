"""``pkg``: packages of the machine's package manager.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "add_repo_key": "repos",
    "autoremove": "changing",
    "available_version": "looking",
    "del_repo": "repos",
    "del_repo_key": "repos",
    "file_dict": "looking",
    "file_list": "looking",
    "get_repo": "repos",
    "get_repo_keys": "repos",
    "get_selections": "looking",
    "group_diff": "groups",
    "group_info": "groups",
    "group_install": "groups",
    "group_list": "groups",
    "hold": "changing",
    "info_installed": "looking",
    "install": "changing",
    "latest_version": "looking",
    "list_holds": "looking",
    "list_pkgs": "looking",
    "list_repo_pkgs": "looking",
    "list_repos": "repos",
    "list_upgrades": "looking",
    "mod_repo": "repos",
    "normalize_name": "looking",
    "owner": "looking",
    "purge": "changing",
    "refresh_db": "changing",
    "remove": "changing",
    "unhold": "changing",
    "upgrade": "changing",
    "upgrade_available": "looking",
    "version": "looking",
    "version_cmp": "looking",
}
