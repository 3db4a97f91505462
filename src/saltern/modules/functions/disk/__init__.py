"""``disk``: usage of file systems, and the contents of block devices.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "blkid": "devices",
    "dump": "devices",
    "format": "format",
    "fstype": "devices",
    "get_fstype_from_path": "usage",
    "inodeusage": "usage",
    "percent": "usage",
    "resize2fs": "format",
    "tune": "format",
    "usage": "usage",
    "wipe": "format",
}
