"""``lvm``: create, resize and remove volumes. Errors are returned, not raised, as in Salt."""

from __future__ import annotations

import os
from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.lvm.query import lvdisplay, vgdisplay
from saltern.modules.lib.volumes import report, tools
from saltern.modules.lib.volumes.arguments import checked_name, list_devices


def _try_act(act: Callable[[], None], done: str) -> str:
    """Act, and return the message for success or the error."""
    try:
        act()
    except Refused as problem:
        return str(problem)
    return done


def _on_volumes(
    ctx: Context, act: Callable[[list[str]], None], devices: object, override: bool, *, volumes: bool
) -> object:
    """Act on the devices that are (or are not yet) physical volumes; skip or report the others."""
    try:
        todo = []
        for device in list_devices(devices):
            if not os.path.exists(device):
                return f"{device} does not exist"
            if (report.physical_volume(ctx, device) is not None) == volumes:
                todo.append(device)
            elif not override:
                return f"{device} is {'not' if volumes else 'already'} a physical volume"
        if todo:
            act(todo)
    except Refused as problem:
        return str(problem)
    return True


@function
def pvcreate(
    ctx: Context, /, devices: object, override: bool = True, force: bool = True, **options: object
) -> object:
    """Create physical volumes on devices. Returns true, or the error.

    Args:
        devices: the devices; a list, or text with commas.
        override: skip devices that are physical volumes already.
        force: answer yes to the questions of ``pvcreate``.
        options: further options of ``pvcreate``.

    Example:
        ```console
        $ saltern call lvm.pvcreate /dev/sdb1,/dev/sdb2
        ```
    """

    def act(todo: list[str]) -> None:
        tools.pvcreate(ctx, todo, force=force, options=options)

    return _on_volumes(ctx, act, devices, override, volumes=False)


@function
def pvremove(ctx: Context, devices: object, override: bool = True, force: bool = True) -> object:
    """Remove physical volumes from devices. Returns true, or the error.

    Args:
        devices: the devices; a list, or text with commas.
        override: skip devices that are not physical volumes.
        force: answer yes to the questions of ``pvremove``.

    Example:
        ```console
        $ saltern call lvm.pvremove /dev/sdb1
        ```
    """
    return _on_volumes(
        ctx, lambda todo: tools.pvremove(ctx, todo, force=force), devices, override, volumes=True
    )


@function
def pvresize(ctx: Context, devices: object, override: bool = True, force: bool = True) -> object:
    """Resize physical volumes to fill devices that have grown. Returns true, or the error.

    Args:
        devices: the devices; a list, or text with commas.
        override: skip devices that are not physical volumes.
        force: answer yes to the questions of ``pvresize``.

    Example:
        ```console
        $ saltern call lvm.pvresize /dev/sdb1
        ```
    """
    return _on_volumes(
        ctx, lambda todo: tools.pvresize(ctx, todo, force=force), devices, override, volumes=True
    )


@function
def vgcreate(
    ctx: Context, /, vgname: str, devices: object, force: bool = False, **options: object
) -> dict[str, object]:
    """Create a volume group. Returns its data and the outcome.

    Args:
        vgname: the name of the group.
        devices: the devices; a list, or text with commas.
        force: answer yes to the questions of ``vgcreate``.
        options: further options of ``vgcreate``.

    Example:
        ```console
        $ saltern call lvm.vgcreate data /dev/sdb1,/dev/sdb2 physicalextentsize=8M
        ```
    """

    def act() -> None:
        tools.vgcreate(
            ctx, checked_name(vgname, "vgname"), list_devices(devices), force=force, options=options
        )

    out = _try_act(act, f'Volume group "{vgname}" successfully created')
    return {**vgdisplay(ctx, vgname), "Output from vgcreate": out}


@function
def vgextend(ctx: Context, vgname: str, devices: object, force: bool = False) -> dict[str, object]:
    """Add devices to a volume group. Returns the outcome.

    Args:
        vgname: the name of the group.
        devices: the devices; a list, or text with commas.
        force: answer yes to the questions of ``vgextend``.

    Example:
        ```console
        $ saltern call lvm.vgextend data /dev/sdc1
        ```
    """

    def act() -> None:
        tools.vgextend(ctx, checked_name(vgname, "vgname"), list_devices(devices), force=force)

    return {"Output from vgextend": _try_act(act, f'Volume group "{vgname}" successfully extended')}


@function
def vgremove(ctx: Context, vgname: str, force: bool = True) -> str:
    """Remove a volume group. Returns the outcome.

    Args:
        vgname: the name of the group.
        force: remove the logical volumes in it, too.

    Example:
        ```console
        $ saltern call lvm.vgremove data
        ```
    """

    def act() -> None:
        tools.vgremove(ctx, checked_name(vgname, "vgname"), force=force)

    return _try_act(act, f'Volume group "{vgname}" successfully removed')


@function
def lvcreate(
    ctx: Context,
    /,
    lvname: str,
    vgname: str,
    size: object = None,
    extents: object = None,
    snapshot: str | None = None,
    pv: str | None = None,
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    **options: object,
) -> dict[str, object]:
    """Create a logical volume. Returns its data and the outcome.

    Args:
        lvname: the name of the volume.
        vgname: the volume group; for a thin volume ``group/pool``.
        size: its size, such as ``10G``; a bare number is in MiB.
        extents: its size in extents, or as ``100%FREE``.
        snapshot: the volume it is a snapshot of.
        pv: the physical volume to take the space from.
        thinvolume: take space from a thin pool as it is needed.
        thinpool: create a pool for thin volumes.
        force: answer yes to the questions of ``lvcreate``.
        options: further options of ``lvcreate``.

    Example:
        ```console
        $ saltern call lvm.lvcreate www data size=10G
        ```
    """
    group = vgname.partition("/")[0]

    def act() -> None:
        tools.lvcreate(
            ctx,
            checked_name(lvname, "lvname"),
            checked_name(vgname, "vgname", pool=True),
            size=size,
            extents=extents,
            snapshot_of=snapshot,
            pv=pv,
            thinvolume=thinvolume,
            thinpool=thinpool,
            force=force,
            options=options,
        )

    out = _try_act(act, f'Logical volume "{lvname}" created.')
    return {**lvdisplay(ctx, f"{group}/{lvname}"), "Output from lvcreate": out}


@function
def lvremove(ctx: Context, lvname: str, vgname: str, force: bool = True) -> str:
    """Remove a logical volume. Returns the outcome.

    Args:
        lvname: the name of the volume.
        vgname: the volume group it is in.
        force: answer yes to the questions of ``lvremove``.

    Example:
        ```console
        $ saltern call lvm.lvremove www data
        ```
    """

    def act() -> None:
        tools.lvremove(ctx, checked_name(lvname, "lvname"), checked_name(vgname, "vgname"), force=force)

    return _try_act(act, f'Logical volume "{lvname}" successfully removed')


def _resize(
    ctx: Context, verb: str, size: object, path: str | None, extents: object, force: bool, resizefs: bool
) -> dict[str, object]:
    def act() -> None:
        if not path or path.startswith("-"):
            raise Refused("lvpath needs the path of a volume, such as /dev/data/www")
        if (size is None) == (extents is None):
            raise Refused("give a size or a number of extents, and not both")
        length = ["--size", str(size)] if size is not None else ["--extents", str(extents)]
        tools.lvresize(ctx, path, length, verb=verb, force=force, resizefs=resizefs)

    word = {"lvresize": "resized", "lvextend": "extended"}[verb]
    return {f"Output from {verb}": _try_act(act, f'Logical volume "{path}" successfully {word}.')}


@function
def lvresize(
    ctx: Context,
    size: object = None,
    lvpath: str | None = None,
    extents: object = None,
    force: bool = False,
    resizefs: bool = False,
) -> dict[str, object]:
    """Change the size of a logical volume. Returns the outcome.

    Args:
        size: the new size, or the change, such as ``+12M``.
        lvpath: the path of the volume.
        extents: the new size in extents, or the change, such as ``+100%FREE``.
        force: allow it to shrink.
        resizefs: resize the file system in it, too.

    Example:
        ```console
        $ saltern call lvm.lvresize +12M /dev/data/www
        ```
    """
    return _resize(ctx, "lvresize", size, lvpath, extents, force, resizefs)


@function
def lvextend(
    ctx: Context,
    size: object = None,
    lvpath: str | None = None,
    extents: object = None,
    force: bool = False,
    resizefs: bool = False,
) -> dict[str, object]:
    """Extend a logical volume. Returns the outcome.

    Args:
        size: the new size, or the growth, such as ``+12M``.
        lvpath: the path of the volume.
        extents: the new size in extents, or the growth, such as ``+100%FREE``.
        force: answer yes to the questions of ``lvextend``.
        resizefs: resize the file system in it, too.

    Example:
        ```console
        $ saltern call lvm.lvextend lvpath=/dev/data/www extents=+100%FREE
        ```
    """
    return _resize(ctx, "lvextend", size, lvpath, extents, force, resizefs)
