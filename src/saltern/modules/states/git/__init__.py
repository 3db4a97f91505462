"""``git``: working copies of repositories, and git's own configuration. Needs the program ``git``.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "cloned": "cloned",
    "config_set": "config",
    "config_unset": "config",
    "detached": "detached",
    "latest": "latest",
    "present": "present",
}
