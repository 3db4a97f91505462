"""``disk``: how full file systems are, and what is on block devices.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "blkid": "devices",
    "dump": "devices",
    "format": "making",
    "fstype": "devices",
    "get_fstype_from_path": "filling",
    "inodeusage": "filling",
    "percent": "filling",
    "resize2fs": "making",
    "tune": "making",
    "usage": "filling",
    "wipe": "making",
}
