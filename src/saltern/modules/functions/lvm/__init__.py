"""``lvm``: physical volumes, volume groups and logical volumes.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "fullversion": "query",
    "lvcreate": "modify",
    "lvdisplay": "query",
    "lvextend": "modify",
    "lvremove": "modify",
    "lvresize": "modify",
    "pvcreate": "modify",
    "pvdisplay": "query",
    "pvremove": "modify",
    "pvresize": "modify",
    "version": "query",
    "vgcreate": "modify",
    "vgdisplay": "query",
    "vgextend": "modify",
    "vgremove": "modify",
}
