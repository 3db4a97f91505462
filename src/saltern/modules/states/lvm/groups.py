"""``lvm.vg_present`` and ``lvm.vg_absent``."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.volumes import report, tools
from saltern.modules.lib.volumes.arguments import arguments, checked_name, list_devices
from saltern.modules.states.lvm.comments import set_comment


def _facts(ctx: Context, name: str) -> Changes:
    row = report.group(ctx, name)
    if row is None:
        return {"name": name, "exists": False}
    return {
        "name": name,
        "exists": True,
        "uuid": row["vg_uuid"],
        "devices": sorted(one["pv_name"] for one in report.physical(ctx) if one["vg_name"] == name),
        "size": report.number(row, "vg_size"),
        "free": report.number(row, "vg_free"),
        "extent_size": report.number(row, "vg_extent_size"),
        "logical_volumes": report.number(row, "lv_count"),
    }


def _missing_devices(ctx: Context, name: str, devices: list[str]) -> list[str]:
    """The devices that are not in the group yet. Raises ``Refused`` for a device of another group."""
    found = {os.path.realpath(row["pv_name"]): row["vg_name"] for row in report.physical(ctx)}
    owners = {device: found.get(os.path.realpath(device), "") for device in devices}
    strange = [f"{device} is part of {owner}" for device, owner in owners.items() if owner not in ("", name)]
    if strange:
        raise Refused(f"{', '.join(strange)}; a device can be in only one volume group")
    return [device for device, owner in owners.items() if owner != name]


@state
def vg_present(
    ctx: Context, /, name: str, *, devices: list[str] | None = None, force: bool = False, **options: object
) -> Result:
    """Create a volume group, or add devices to it.

    Args:
        name: the name of the group.
        devices: its devices; a list, or text with commas. Devices of the group that are not
            listed stay in it.
        force: answer yes to the questions of ``vgcreate``, such as whether to overwrite a file system.
        options: further options of ``vgcreate``: ``addtag``, ``alloc``, ``autobackup``, ``clustered``,
            ``dataalignment``, ``dataalignmentoffset``, ``maxlogicalvolumes``, ``maxphysicalvolumes``,
            ``metadatatype``, ``metadatacopies``, ``physicalextentsize``, ``vgmetadatacopies``, ``zero``.

    Example:
        ```yaml
        a disk to try it on:
          cmd.run:
            - name: truncate -s 64M /var/tmp/disk.img && losetup /dev/loop7 /var/tmp/disk.img
            - creates: /var/tmp/disk.img

        data:
          lvm.vg_present:
            - devices: [/dev/loop7]
            - physicalextentsize: 1M
            - require:
              - cmd: a disk to try it on
        ```
    """
    checked_name(name, "name")
    arguments("vgcreate", options)
    wanted = [one for text in devices or () for one in list_devices(text)]

    def differs() -> Changes:
        missing = _missing_devices(ctx, name, wanted)
        if report.group(ctx, name) is None:
            return {"created": {"Output from vgcreate": f'Volume group "{name}" successfully created'}}
        return dict.fromkeys(missing, f"added to {name}")

    def act(changes: Changes) -> None:
        _check_devices(wanted)
        if "created" in changes:
            tools.vgcreate(ctx, name, wanted, force=force, options=options)
        else:
            tools.vgextend(ctx, name, list(changes), force=force)

    if not wanted and report.group(ctx, name) is None:
        raise Refused(f"the volume group {name} does not exist; give devices to create it")
    result = bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, name),
        words=Words(f"Volume Group {name} already present", "", ""),
    )
    return set_comment(result, f"Volume Group {name}")


def _check_devices(devices: list[str]) -> None:
    if absent := [device for device in devices if not os.path.exists(device)]:
        raise Refused(f"there is no device {', '.join(absent)}")


@state
def vg_absent(ctx: Context, name: str) -> Result:
    """Remove a volume group and its logical volumes.

    Args:
        name: the name of the group.

    Example:
        ```yaml
        data:
          lvm.vg_absent: []
        ```
    """
    checked_name(name, "name")
    removed = {"removed": f'Volume group "{name}" successfully removed'}
    result = bring(
        ctx,
        lambda: dict(removed) if report.group(ctx, name) else {},
        lambda _: tools.vgremove(ctx, name, force=True),
        facts=lambda: _facts(ctx, name),
        words=Words(f"Volume Group {name} already absent", "", ""),
    )
    return set_comment(result, f"Volume Group {name}")
