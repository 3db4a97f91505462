"""``lvm``: physical volumes, volume groups and logical volumes.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "lv_absent": "logical",
    "lv_present": "logical",
    "pv_absent": "physical",
    "pv_present": "physical",
    "vg_absent": "groups",
    "vg_present": "groups",
}
