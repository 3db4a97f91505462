"""The reports of ``pvs``, ``vgs`` and ``lvs``, from JSON; sizes in bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.programs import error_text
from saltern.modules.api.refused import Refused
from saltern.modules.lib.volumes.program import lvm

Row = Mapping[str, str]

# The fields are listed, since those of "all" differ between versions.
PV_FIELDS = (
    "pv_name,vg_name,pv_uuid,pv_attr,pv_size,pv_free,dev_size,pv_pe_count,pv_pe_alloc_count,vg_extent_size"
)
VG_FIELDS = (
    "vg_name,vg_uuid,vg_attr,vg_permissions,vg_size,vg_free,vg_extent_size,vg_extent_count,vg_free_count,"
    "max_lv,max_pv,lv_count,pv_count,vg_missing_pv_count"
)
LV_FIELDS = (
    "lv_name,vg_name,lv_path,lv_uuid,lv_attr,lv_size,lv_layout,lv_allocation_policy,lv_read_ahead,"
    "lv_kernel_major,lv_kernel_minor,origin,pool_lv,vg_extent_size"
)
PARTLY = 5  # something else could not be read; the report is right


def _rows(ctx: Context, program: str, kind: str, fields: str) -> list[Row]:
    import json

    ran = lvm(
        ctx,
        program,
        *("--reportformat", "json", "--units", "b", "--nosuffix", "-o", fields),
        accept=(0, PARTLY),
    )
    try:
        reports = json.loads(ran.out)["report"]
    except (ValueError, KeyError):
        raise Refused(f"{program}: {error_text(ran) or 'no report'}") from None
    return [row for report in reports for row in report.get(kind, ())]


def physical(ctx: Context) -> list[Row]:
    return _rows(ctx, "pvs", "pv", PV_FIELDS)


def groups(ctx: Context) -> list[Row]:
    return _rows(ctx, "vgs", "vg", VG_FIELDS)


def logical(ctx: Context) -> list[Row]:
    return _rows(ctx, "lvs", "lv", LV_FIELDS)


def physical_volume(ctx: Context, device: str) -> Row | None:
    """The physical volume on a device, by any of its names."""
    real = os.path.realpath(device)
    return next((row for row in physical(ctx) if os.path.realpath(row["pv_name"]) == real), None)


def group(ctx: Context, name: str) -> Row | None:
    return next((row for row in groups(ctx) if row["vg_name"] == name), None)


def logical_volume(ctx: Context, group_name: str, name: str) -> Row | None:
    rows = logical(ctx)
    return next((row for row in rows if (row["vg_name"], row["lv_name"]) == (group_name, name)), None)


def number(row: Row, field: str) -> int:
    """A number of a report; unknown ones are empty there."""
    text = row.get(field, "")
    return int(text) if text.lstrip("-").isdecimal() else 0
