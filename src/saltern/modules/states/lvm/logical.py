"""``lvm.lv_present`` and ``lvm.lv_absent``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.volumes import report, tools
from saltern.modules.lib.volumes.arguments import arguments, checked_device, checked_name
from saltern.modules.lib.volumes.report import Row
from saltern.modules.lib.volumes.sizes import extents_for, in_bytes
from saltern.modules.states.lvm.comments import set_comment


def _facts(ctx: Context, group: str, name: str) -> Changes:
    row = report.logical_volume(ctx, group, name)
    if row is None:
        return {"name": name, "group": group, "exists": False}
    return {
        "name": name,
        "group": group,
        "exists": True,
        "path": row["lv_path"] or f"/dev/{group}/{name}",
        "uuid": row["lv_uuid"],
        "size": report.number(row, "lv_size"),
        "layout": row["lv_layout"],
        "origin": row["origin"] or None,
        "pool": row["pool_lv"] or None,
    }


def _extents(row: Row) -> int:
    return extents_for(report.number(row, "lv_size"), max(report.number(row, "vg_extent_size"), 1))


def _wanted_extents(row: Row, size: str | None, extents: str | None) -> int | None:
    """The number of extents that the volume must have; None keeps its size.

    A percentage counts only when the volume is created: later it would mean other sizes.
    """
    if size is not None:
        return extents_for(in_bytes(size), max(report.number(row, "vg_extent_size"), 1))
    return None if extents is None or "%" in extents else int(extents)


def _check(size: str | None, extents: str | None, thinvolume: bool, thinpool: bool) -> None:
    if size is not None and extents is not None:
        raise Refused("only one of extents and size can be given")
    if thinvolume and thinpool:
        raise Refused("a volume is either a thinvolume or a thinpool, not both")
    if size is not None:
        in_bytes(size)
    number, percent, whole = (extents or "1").partition("%")
    shares = ("", "FREE", "VG", "PVS", "ORIGIN")
    if not number.isascii() or not number.isdecimal() or int(number) < 1 or whole not in shares:
        raise Refused(f"extents needs a number, or a share such as 50%FREE, got {extents!r}")
    if bool(percent) != bool(whole):
        raise Refused(f"extents needs a share of something, such as 50%FREE, got {extents!r}")


@state
def lv_present(
    ctx: Context,
    /,
    name: str,
    *,
    vgname: str,
    size: str | None = None,
    extents: str | None = None,
    snapshot: str | None = None,
    pv: str = "",
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    resizefs: bool = False,
    **options: object,
) -> Result:
    """Create a logical volume, or change its size.

    Args:
        name: the name of the volume; with ``snapshot``, of the volume the snapshot is taken of.
        vgname: the volume group; for a thin volume ``group/pool``.
        size: its size, such as ``10G``; a bare number is in MiB. LVM rounds up to whole extents.
        extents: its size in extents, or as a share such as ``100%FREE``. A share is used only when the volume
            is created; an existing one keeps its size.
        snapshot: the name of a snapshot to take of ``name``.
        pv: the physical volume to take the space from.
        thinvolume: take space from the thin pool as it is needed.
        thinpool: create a pool for thin volumes.
        force: allow it to shrink, and answer yes to the questions of the tools.
        resizefs: resize the file system in it, too.
        options: further options of ``lvcreate``: ``activate``, ``addtag``, ``alloc``, ``chunksize``,
            ``contiguous``, ``discards``, ``ignoremonitoring``, ``minor``, ``mirrors``, ``monitor``,
            ``nosync``, ``noudevsync``, ``permission``, ``persistent``, ``poolmetadatasize``, ``readahead``,
            ``regionsize``, ``stripes``, ``stripesize``, ``thin``, ``type``, ``virtualsize``,
            ``wipesignatures``, ``zero``.

    Example:
        ```yaml
        a disk to try it on:
          cmd.run:
            - name: truncate -s 64M /var/tmp/disk.img && losetup /dev/loop7 /var/tmp/disk.img
            - creates: /var/tmp/disk.img

        data:
          lvm.vg_present:
            - devices: [/dev/loop7]
            - require:
              - cmd: a disk to try it on

        www:
          lvm.lv_present:
            - vgname: data
            - size: 20M
            - require:
              - lvm: data
        ```
    """
    _check(size, extents, thinvolume, thinpool)
    if pv:
        checked_device(pv)
    arguments("lvcreate", options)
    origin, made = (
        (checked_name(name, "name"), checked_name(snapshot, "snapshot")) if snapshot else ("", name)
    )
    group = checked_name(vgname, "vgname", pool=thinvolume).partition("/")[0]
    checked_name(made, "name")

    def differs() -> Changes:
        row = report.logical_volume(ctx, group, made)
        if row is None:
            return {"created": {"Output from lvcreate": f'Logical volume "{made}" created.'}}
        wanted = _wanted_extents(row, size, extents)
        if wanted is None or wanted == _extents(row):
            return {}
        _may_shrink(made, wanted < _extents(row), force)
        path = f"/dev/{group}/{made}"
        return {"resized": {"Output from lvresize": f'Logical volume "{path}" successfully resized.'}}

    def act(changes: Changes) -> None:
        if "resized" in changes:
            length = ["--size", f"{in_bytes(size)}b"] if size is not None else ["--extents", str(extents)]
            path = f"/dev/{group}/{made}"
            return tools.lvresize(ctx, path, length, force=force, resizefs=resizefs)
        return tools.lvcreate(
            ctx,
            made,
            vgname,
            size=size,
            extents=extents,
            snapshot_of=origin or None,
            pv=pv,
            thinvolume=thinvolume,
            thinpool=thinpool,
            force=force,
            options=options,
        )

    result = bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, group, made),
        words=Words(f"Logical Volume {made} already present", "", ""),
    )
    return set_comment(result, f"Logical Volume {made}")


def _may_shrink(name: str, smaller: bool, force: bool) -> None:
    if smaller and not force:
        raise Refused(
            f"the logical volume {name} would become smaller, which may destroy data; set force to allow that"
        )


@state
def lv_absent(ctx: Context, name: str, *, vgname: str) -> Result:
    """Remove a logical volume with its data.

    Args:
        name: the name of the volume.
        vgname: the volume group it is in.

    Example:
        ```yaml
        www:
          lvm.lv_absent:
            - vgname: data
        ```
    """
    checked_name(name, "name")
    checked_name(vgname, "vgname")
    removed = {"removed": f'Logical volume "{name}" successfully removed'}
    result = bring(
        ctx,
        lambda: dict(removed) if report.logical_volume(ctx, vgname, name) else {},
        lambda _: tools.lvremove(ctx, name, vgname, force=True),
        facts=lambda: _facts(ctx, vgname, name),
        words=Words(f"Logical Volume {name} already absent", "", ""),
    )
    return set_comment(result, f"Logical Volume {name}")
