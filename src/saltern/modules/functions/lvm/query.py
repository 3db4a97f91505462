"""``lvm``: query volumes. Names and numbers are those of ``pvdisplay -c`` and similar programs, as in
Salt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.volumes import report
from saltern.modules.lib.volumes.program import lvm
from saltern.modules.lib.volumes.report import Row, number

Fields = Mapping[str, Callable[[Row], object]]
SECTOR = 512
UNKNOWN = "-1"  # printed by LVM 2 for numbers that only LVM 1 had
VG_STATUS = {"w": 0x300, "r": 0x100}  # LVM's bits for writing and reading
RESIZABLE, EXPORTED = 0x4, 0x2
LV_ACCESS = {"w": 3, "r": 1}
POLICIES = {"inherit": 0, "contiguous": 1, "cling": 2, "normal": 4, "anywhere": 5}


def _sign(row: Row, field: str, place: int) -> str:
    return row.get(field, "")[place : place + 1].lower()


def _kib(field: str) -> Callable[[Row], object]:
    return lambda row: number(row, field) // 1024


def _sectors(field: str) -> Callable[[Row], object]:
    return lambda row: number(row, field) // SECTOR


def _is(field: str) -> Callable[[Row], object]:
    return lambda row: row[field]


def _never(_row: Row) -> object:
    return UNKNOWN


def _vg_status(row: Row) -> int:
    bits = VG_STATUS.get(_sign(row, "vg_attr", 0), 0)
    bits |= RESIZABLE if _sign(row, "vg_attr", 1) == "z" else 0
    return bits | (EXPORTED if _sign(row, "vg_attr", 2) == "x" else 0)


def _allocatable(row: Row) -> object:
    return 8 if _sign(row, "pv_attr", 0) == "a" else 0


PHYSICAL: Fields = {
    "Physical Volume Device": _is("pv_name"),
    "Volume Group Name": _is("vg_name"),
    "Physical Volume Size (kB)": _sectors("dev_size"),  # Salt's name; pvdisplay counts sectors
    "Internal Physical Volume Number": _never,
    "Physical Volume Status": _allocatable,
    "Physical Volume (not) Allocatable": _allocatable,
    "Current Logical Volumes Here": _never,
    "Physical Extent Size (kB)": _kib("vg_extent_size"),
    "Total Physical Extents": _is("pv_pe_count"),
    "Free Physical Extents": lambda row: number(row, "pv_pe_count") - number(row, "pv_pe_alloc_count"),
    "Allocated Physical Extents": _is("pv_pe_alloc_count"),
}
GROUP: Fields = {
    "Volume Group Name": _is("vg_name"),
    "Volume Group Access": lambda row: "r/w" if _sign(row, "vg_attr", 0) == "w" else "r",
    "Volume Group Status": _vg_status,
    "Internal Volume Group Number": _never,
    "Maximum Logical Volumes": _is("max_lv"),
    "Current Logical Volumes": _is("lv_count"),
    "Open Logical Volumes": lambda row: row.get("open", "0"),
    "Maximum Logical Volume Size": _never,
    "Maximum Physical Volumes": _is("max_pv"),
    "Current Physical Volumes": _is("pv_count"),
    "Actual Physical Volumes": lambda row: number(row, "pv_count") - number(row, "vg_missing_pv_count"),
    "Volume Group Size (kB)": _kib("vg_size"),
    "Physical Extent Size (kB)": _kib("vg_extent_size"),
    "Total Physical Extents": _is("vg_extent_count"),
    "Allocated Physical Extents": lambda row: number(row, "vg_extent_count") - number(row, "vg_free_count"),
    "Free Physical Extents": _is("vg_free_count"),
    "UUID": _is("vg_uuid"),
}
LOGICAL: Fields = {
    "Logical Volume Name": _is("lv_path"),
    "Volume Group Name": _is("vg_name"),
    "Logical Volume Access": lambda row: LV_ACCESS.get(_sign(row, "lv_attr", 1), 0),
    "Logical Volume Status": lambda row: int(_sign(row, "lv_attr", 4) == "a"),
    "Internal Logical Volume Number": _never,
    "Open Logical Volumes": lambda row: int(_sign(row, "lv_attr", 5) == "o"),
    "Logical Volume Size": _sectors("lv_size"),
    "Current Logical Extents Associated": lambda row: (
        number(row, "lv_size") // max(number(row, "vg_extent_size"), 1)
    ),
    "Allocated Logical Extents": _never,
    "Allocation Policy": lambda row: POLICIES.get(row["lv_allocation_policy"], 0),
    "Read Ahead Sectors": lambda row: (
        UNKNOWN if row["lv_read_ahead"] == "auto" else number(row, "lv_read_ahead") // SECTOR
    ),
    "Major Device Number": _is("lv_kernel_major"),
    "Minor Device Number": _is("lv_kernel_minor"),
}


def _fields(row: Row, names: Fields) -> dict[str, object]:
    return {name: str(value(row)) for name, value in names.items()}


@function
def version(ctx: Context) -> str:
    """The version of LVM.

    Example:
        ```console
        $ saltern call lvm.version
        ```
    """
    return str(fullversion(ctx).get("LVM version", ""))


@function
def fullversion(ctx: Context) -> dict[str, str]:
    """The versions of LVM, of its library and of the driver.

    Example:
        ```console
        $ saltern call lvm.fullversion
        ```
    """
    lines = lvm(ctx, "lvm", "version").out.splitlines()
    return {name.strip(): rest.strip() for name, _, rest in (line.partition(":") for line in lines) if rest}


@function
def pvdisplay(ctx: Context, pvname: str = "", real: bool = False, quiet: bool = False) -> dict[str, object]:  # noqa: ARG001 - Salt's signature
    """All physical volumes, or the one on a device; empty if there is none.

    Args:
        pvname: the device.
        real: resolve a link to the device.
        quiet: accepted for compatibility with Salt; a missing one is never an error.

    Example:
        ```console
        $ saltern call lvm.pvdisplay /dev/sdb1
        ```
    """
    wanted = os.path.realpath(pvname) if pvname else ""
    found: dict[str, object] = {}
    for row in report.physical(ctx):
        device = os.path.realpath(row["pv_name"])
        if wanted in ("", device):
            more = {"Real Physical Volume Device": device} if real else {}
            found[device if real else row["pv_name"]] = {**_fields(row, PHYSICAL), **more}
    return found


@function
def vgdisplay(ctx: Context, vgname: str = "", quiet: bool = False) -> dict[str, object]:  # noqa: ARG001 - Salt's signature
    """All volume groups, or the one with this name; empty if there is none.

    Args:
        vgname: the name of the group.
        quiet: accepted for compatibility with Salt; a missing one is never an error.

    Example:
        ```console
        $ saltern call lvm.vgdisplay data
        ```
    """
    volumes = report.logical(ctx)
    rows = [row for row in report.groups(ctx) if vgname in ("", row["vg_name"])]
    return {row["vg_name"]: _fields({**row, "open": _open(row, volumes)}, GROUP) for row in rows}


def _open(group: Row, volumes: list[Row]) -> str:
    mine = (row for row in volumes if row["vg_name"] == group["vg_name"])
    return str(sum(_sign(row, "lv_attr", 5) == "o" for row in mine))


@function
def lvdisplay(ctx: Context, lvname: str = "", quiet: bool = False) -> dict[str, object]:  # noqa: ARG001 - Salt's signature
    """All logical volumes, or the one with this path; empty if there is none.

    Args:
        lvname: the path of the volume, such as ``/dev/data/www``, or ``data/www``, or a group.
        quiet: accepted for compatibility with Salt; a missing one is never an error.

    Example:
        ```console
        $ saltern call lvm.lvdisplay /dev/data/www
        ```
    """
    rows = [row for row in report.logical(ctx) if row["lv_path"] and _fits(row, lvname)]
    return {row["lv_path"]: _fields(row, LOGICAL) for row in rows}


def _fits(row: Row, name: str) -> bool:
    group, volume = row["vg_name"], row["lv_name"]
    mapped = f"/dev/mapper/{group.replace('-', '--')}-{volume.replace('-', '--')}"
    return name in ("", row["lv_path"], f"{group}/{volume}", group, mapped)
