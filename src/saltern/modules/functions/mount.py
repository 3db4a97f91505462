"""``mount``: query, mount and unmount file systems."""

from __future__ import annotations

from saltern.modules.api.argv import vector
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.tables import fstab as table
from saltern.modules.lib.tables import mounts


@function
def active(ctx: Context, extended: bool = False) -> dict[str, object]:  # noqa: ARG001 - Salt's signature
    """All mounted file systems: ``{path: {device, fstype, opts}}``.

    Example:
        ```console
        $ saltern call mount.active
        ```
    """
    return {
        place: {"device": one.device, "fstype": one.fstype, "opts": list(one.opts), "root": one.root}
        for place, one in mounts.active(ctx).items()
    }


@function
def is_mounted(ctx: Context, name: str) -> bool:
    """True if a file system is mounted there.

    Example:
        ```console
        $ saltern call mount.is_mounted /srv/data
        local:
            True
        ```
    """
    return mounts.at(ctx, name) is not None


@function
def fstab(ctx: Context, config: str = table.USUAL) -> dict[str, object]:
    """The entries of fstab: ``{path: {device, fstype, opts, dump, pass}}``.

    Example:
        ```console
        $ saltern call mount.fstab
        local:
        …
            /home:
                ----------
                device:
                    server:/export/home
        …
        ```
    """
    return {one.name: one.asdict() for one in table.read(ctx, config).entries}


@function
def set_fstab(
    ctx: Context,
    name: str,
    device: str,
    fstype: str,
    opts: object = "defaults",
    dump: object = 0,
    pass_num: object = 0,
    config: str = table.USUAL,
    test: bool = False,
    match_on: str | list[str] = "auto",
    not_change: bool = False,
) -> str:
    """Add an entry to fstab, or change it. Returns ``new``, ``change`` or ``present``.

    Example:
        ```console
        $ saltern call mount.set_fstab /srv/data tmpfs tmpfs opts=noexec
        local:
            new
        ```
    """
    text = ",".join(map(str, opts)) if isinstance(opts, list | tuple) else str(opts)
    entry = table.Entry(
        device=device, name=name, fstype=fstype, opts=text, dump=str(dump), pass_num=str(pass_num)
    )
    now = table.read(ctx, config)
    todo = table.settle(now, entry, match_on, keep=not_change)
    if todo and not test:
        table.write(ctx, now.with_entry(entry, now.find(entry, match_on)), config)
    return {"new": "new", "update": "change", "": "present"}[todo]


@function
def rm_fstab(ctx: Context, name: str, device: str, config: str = table.USUAL) -> bool:
    """Remove an entry from fstab.

    Example:
        ```console
        $ saltern call mount.rm_fstab /home server:/export/home
        local:
            True
        ```
    """
    now = table.read(ctx, config)
    for one in now.entries:
        if one.name == name and device in ("", one.device):
            now = now.without(one)
    table.write(ctx, now, config)
    return True


@function
def mount(
    ctx: Context,
    name: str,
    device: str,
    mkmnt: bool = False,
    fstype: str = "",
    opts: object = "defaults",
    user: str | None = None,
) -> object:
    """Mount a file system. Returns true, or the error of mount.

    Example:
        ```console
        $ saltern call mount.mount /srv/data tmpfs fstype=tmpfs mkmnt=true
        local:
            True
        ```
    """
    if mkmnt:
        ctx.host.makedirs(name)
    words = list(map(str, opts)) if isinstance(opts, list | tuple) else str(opts).split(",")
    try:
        mounts.mount(ctx, name, device, fstype, words, user=user)
    except Refused as problem:
        return str(problem)
    return True


@function
def remount(
    ctx: Context,
    name: str,
    device: str,  # noqa: ARG001 - Salt's signature
    mkmnt: bool = False,  # noqa: ARG001
    fstype: str = "",  # noqa: ARG001
    opts: object = "defaults",
    user: str | None = None,
) -> object:
    """Remount a file system with other options. Returns true, or the error of mount.

    Example:
        ```console
        $ saltern call mount.remount /srv/data tmpfs fstype=tmpfs opts=noexec
        local:
            True
        ```
    """
    words = list(map(str, opts)) if isinstance(opts, list | tuple) else str(opts).split(",")
    try:
        mounts.remount(ctx, name, words, user=user)
    except Refused as problem:
        return str(problem)
    return True


@function
def umount(
    ctx: Context,
    name: str,
    device: str | None = None,  # noqa: ARG001 - Salt's signature
    user: str | None = None,
    lazy: bool = False,
) -> object:
    """Unmount a file system. Returns true, or the error of umount.

    Example:
        ```console
        $ saltern call mount.umount /srv/data
        local:
            True
        ```
    """
    if mounts.at(ctx, name) is None:
        return f"{name} does not have anything mounted"
    try:
        mounts.unmount(ctx, name, user=user, lazy=lazy)
    except Refused as problem:
        return str(problem)
    return True


@function
def swaps(ctx: Context) -> dict[str, dict[str, object]]:
    """All active swap devices and files.

    Example:
        ```console
        $ saltern call mount.swaps
        ```
    """
    return mounts.swaps(ctx)


@function
def swapon(ctx: Context, name: str, priority: int | None = None) -> dict[str, object]:
    """Activate a swap device or file.

    Example:
        ```console
        $ saltern call mount.swapon /swapfile priority=10
        ```
    """
    before = mounts.swaps(ctx)
    if mounts.real_device(name) not in before:
        tool(ctx, *vector(["swapon", *([] if priority is None else ["-p", str(priority)])], name))
    return {"stats": mounts.swaps(ctx).get(mounts.real_device(name)), "new": name not in before}


@function
def swapoff(ctx: Context, name: str) -> bool:
    """Deactivate a swap device or file.

    Example:
        ```console
        $ saltern call mount.swapoff /swapfile
        local:
            True
        ```
    """
    if mounts.real_device(name) in mounts.swaps(ctx):
        tool(ctx, "swapoff", name)
    return True
