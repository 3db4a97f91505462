"""``lvm``: physical volumes, volume groups and logical volumes.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "fullversion": "looking",
    "lvcreate": "changing",
    "lvdisplay": "looking",
    "lvextend": "changing",
    "lvremove": "changing",
    "lvresize": "changing",
    "pvcreate": "changing",
    "pvdisplay": "looking",
    "pvremove": "changing",
    "pvresize": "changing",
    "version": "looking",
    "vgcreate": "changing",
    "vgdisplay": "looking",
    "vgextend": "changing",
    "vgremove": "changing",
}
