"""``pkg``: packages of the machine's package manager.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "autoremove": "changing",
    "available_version": "looking",
    "file_dict": "looking",
    "file_list": "looking",
    "get_selections": "looking",
    "hold": "changing",
    "info_installed": "looking",
    "install": "changing",
    "latest_version": "looking",
    "list_holds": "looking",
    "list_pkgs": "looking",
    "list_repo_pkgs": "looking",
    "list_repos": "looking",
    "list_upgrades": "looking",
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
