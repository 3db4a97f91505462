"""``lvm.pv_present`` and ``lvm.pv_absent``."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.volumes import report, tools
from saltern.modules.lib.volumes.arguments import arguments, checked_device
from saltern.modules.states.lvm.comments import set_comment


def _facts(ctx: Context, device: str) -> Changes:
    row = report.physical_volume(ctx, device)
    if row is None:
        return {"device": device, "exists": False}
    return {
        "device": device,
        "exists": True,
        "uuid": row["pv_uuid"],
        "group": row["vg_name"] or None,
        "size": report.number(row, "pv_size"),
        "free": report.number(row, "pv_free"),
    }


@state
def pv_present(
    ctx: Context, /, name: str, *, force: bool = True, override: bool = True, **options: object
) -> Result:
    """Create a physical volume on a device.

    Args:
        name: the device, such as ``/dev/sdb1``.
        force: answer yes to the questions of ``pvcreate``, such as whether to overwrite a file
            system.
        override: accept a device that is a physical volume already; false makes that a failure.
        options: further options of ``pvcreate``: ``metadatasize``, ``dataalignment``,
            ``dataalignmentoffset``, ``pvmetadatacopies``, ``metadatacopies``, ``metadataignore``,
            ``restorefile``, ``norestorefile``, ``labelsector``, ``setphysicalvolumesize``, ``uuid``.

    Example:
        ```yaml
        a disk to try it on:
          cmd.run:
            - name: truncate -s 64M /var/tmp/disk.img && losetup /dev/loop7 /var/tmp/disk.img
            - creates: /var/tmp/disk.img

        /dev/loop7:
          lvm.pv_present:
            - require:
              - cmd: a disk to try it on
        ```
    """
    checked_device(name)
    arguments("pvcreate", options)
    if not ctx.test and not os.path.exists(name):  # in test mode an earlier state may create it
        raise Refused(f"the device {name} does not exist")
    if not override and report.physical_volume(ctx, name) is not None:
        raise Refused(f"{name} is a physical volume already, and override is false")
    result = bring(
        ctx,
        lambda: {} if report.physical_volume(ctx, name) else {"created": True},
        lambda _: tools.pvcreate(ctx, [name], force=force, options=options),
        facts=lambda: _facts(ctx, name),
        words=Words(f"Physical Volume {name} already present", "", ""),
    )
    return set_comment(result, f"Physical Volume {name}")


@state
def pv_absent(ctx: Context, name: str) -> Result:
    """Make sure that LVM does not use a device.

    Args:
        name: the device, such as ``/dev/sdb1``. A device in a volume group is not removed.

    Example:
        ```yaml
        /dev/loop7:
          lvm.pv_absent: []
        ```
    """
    checked_device(name)

    def act(_: Changes) -> None:
        row = report.physical_volume(ctx, name)
        if row is not None and row["vg_name"]:
            raise Refused(f"{name} is part of the volume group {row['vg_name']}; remove it from there first")
        tools.pvremove(ctx, [name], force=True)

    result = bring(
        ctx,
        lambda: {"removed": True} if report.physical_volume(ctx, name) else {},
        act,
        facts=lambda: _facts(ctx, name),
        words=Words(f"Physical Volume {name} does not exist", "", ""),
    )
    return set_comment(result, f"Physical Volume {name}")
