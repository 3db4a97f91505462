"""Run LVM's tools; each function raises ``Refused`` with the tool's message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.volumes.arguments import arguments
from saltern.modules.lib.volumes.program import lvm
from saltern.modules.lib.volumes.sizes import in_bytes

Options = Mapping[str, object]


def _answer(force: bool) -> str:
    """The option that answers the tool's questions: yes, or no without asking."""
    return "--yes" if force else "-qq"


def pvcreate(ctx: Context, devices: Sequence[str], *, force: bool, options: Options) -> None:
    lvm(ctx, "pvcreate", _answer(force), *arguments("pvcreate", options), *devices)


def pvremove(ctx: Context, devices: Sequence[str], *, force: bool) -> None:
    lvm(ctx, "pvremove", _answer(force), *devices)


def pvresize(ctx: Context, devices: Sequence[str], *, force: bool) -> None:
    lvm(ctx, "pvresize", _answer(force), *devices)


def vgcreate(ctx: Context, name: str, devices: Sequence[str], *, force: bool, options: Options) -> None:
    lvm(ctx, "vgcreate", _answer(force), *arguments("vgcreate", options), name, *devices)


def vgextend(ctx: Context, name: str, devices: Sequence[str], *, force: bool) -> None:
    lvm(ctx, "vgextend", _answer(force), name, *devices)


def vgremove(ctx: Context, name: str, *, force: bool) -> None:
    lvm(ctx, "vgremove", _answer(force), name)


def lvremove(ctx: Context, name: str, group: str, *, force: bool) -> None:
    lvm(ctx, "lvremove", _answer(force), f"{group}/{name}")


def lvcreate(
    ctx: Context,
    name: str,
    group: str,
    *,
    size: object = None,
    extents: object = None,
    snapshot_of: str | None = None,
    pv: str | None = None,
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    options: Options,
) -> None:
    """``group`` is ``group/pool`` for a thin volume."""
    if thinvolume and thinpool:
        raise Refused("a volume is either a thinvolume or a thinpool, not both")
    named = ["--thinpool", name] if thinpool else ["--name", name]
    kind = ["--thin"] if thinvolume and not snapshot_of else []
    source = ["--snapshot", f"{group.partition('/')[0]}/{snapshot_of}"] if snapshot_of else [group]
    grows = bool(
        thinvolume and snapshot_of
    )  # a thin snapshot takes its space from the pool, and has no length
    length = [] if grows else _length(size, extents, virtual=thinvolume)
    more = [*arguments("lvcreate", options), *([pv] if pv else [])]
    lvm(ctx, "lvcreate", _answer(force), *kind, *named, *length, *source, *more)


def _length(size: object, extents: object, *, virtual: bool = False) -> list[str]:
    if (size is None) == (extents is None):
        raise Refused("give a size or a number of extents, and not both")
    if size is not None:
        return ["--virtualsize" if virtual else "--size", f"{in_bytes(size)}b"]
    if virtual:
        raise Refused("the size of a thinvolume cannot be given in extents")
    return ["--extents", str(extents)]


def lvresize(
    ctx: Context, path: str, length: Sequence[str], *, verb: str = "lvresize", force: bool, resizefs: bool
) -> None:
    """Resize a volume. ``length`` is the tool's option: ``--size …`` or ``--extents …``."""
    how = ["--force", "--yes"] if force else ["-qq"]
    lvm(ctx, verb, *how, *(["--resizefs"] if resizefs else []), *length, path)
