"""``mount``: what is mounted, now and after a reboot."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from saltern.language.result import Outcome, Result, failed
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.machine import Changes, Refused, Words, bring, one_line, tool
from saltern.modules.tables import fstab, mounts
from saltern.modules.tables.fstab import USUAL, Entry, Fstab

BY = {"label": "LABEL", "uuid": "UUID", "partlabel": "PARTLABEL", "partuuid": "PARTUUID"}


class Wish(Struct, frozen=True, kw_only=True):
    name: str
    device: str
    fstype: str
    opts: tuple[str, ...]
    not_compared: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    mkmnt: bool = False
    user: str | None = None

    @property
    def compared(self) -> list[str]:
        return [opt for opt in self.opts if opt.partition("=")[0] not in self.not_compared]


@state
def mounted(
    ctx: Context,
    /,
    name: str,
    *,
    device: str,
    fstype: str,
    mkmnt: bool = False,
    opts: list[str] | None = None,
    dump: int = 0,
    pass_num: int = 0,
    config: str = USUAL,
    persist: bool = True,
    mount: bool = True,
    user: str | None = None,
    match_on: str = "auto",
    device_name_regex: list[str] | None = None,
    extra_mount_invisible_options: list[str] | None = None,
    extra_mount_invisible_keys: list[str] | None = None,
    extra_mount_ignore_fs_keys: dict[str, object] | None = None,
    extra_mount_translate_options: object = None,  # noqa: ARG001 - sizes and owners are compared by value
    hidden_opts: list[str] | None = None,
    bind_mount_copy_active_opts: bool = True,  # noqa: ARG001 - mount itself keeps them
    **_: object,
) -> Result:
    """Make sure that something is mounted, and mounted again after a reboot.

    Args:
        name: the directory.
        device: what is mounted there: a device, ``UUID=…``, ``LABEL=…``, ``host:/path``, a directory.
        fstype: the type of the file system.
        mkmnt: make the directory if it is missing.
        opts: mount options, as a list or with commas between them.
        dump, pass_num: the last two fields of fstab.
        config: where it is kept across reboots.
        persist: keep it there; false only mounts it.
        mount: false only keeps it there.
        user: the user to mount it as.
        match_on: what finds the entry in fstab: ``name``, ``device``, or ``auto``.
        device_name_regex: patterns for other names of the same device.
        extra_mount_invisible_options, extra_mount_invisible_keys, extra_mount_ignore_fs_keys: options not
            to compare with what is mounted.
        extra_mount_translate_options, bind_mount_copy_active_opts: of no effect; not needed here.
        hidden_opts: options not to compare nor to show, such as ``password``.

    Example:
        ```yaml
        /srv/data:
          mount.mounted:
            - device: UUID=0c1d2e3f-aaaa-bbbb-cccc-1234567890ab
            - fstype: ext4
            - opts: noatime,nodev
            - mkmnt: true
        ```
    """
    ignored = (extra_mount_ignore_fs_keys or {}).get(fstype)
    lists = (extra_mount_invisible_options, extra_mount_invisible_keys, hidden_opts)
    unseen = {str(one) for some in lists for one in some or ()} | set(
        ignored if isinstance(ignored, list) else ()
    )
    wish = Wish(
        name=_place(name),
        device=one_line(device, "device"),
        fstype=fstype,
        opts=_options(opts),
        not_compared=frozenset(unseen),
        patterns=tuple(device_name_regex or ()),
        mkmnt=mkmnt,
        user=user,
    )
    entry = _entry(device, wish.name, fstype, wish.opts, dump, pass_num)

    def differs() -> Changes:
        changes = _mount_changes(ctx, wish) if mount else {}
        todo = fstab.settle(fstab.read(ctx, config), entry, match_on) if persist else ""
        return {**changes, **({"persist": todo} if todo else {})}

    def act(changes: Changes) -> None:
        if changes.keys() & {"mount", "umount"}:
            _mount(ctx, wish, changes)
        if "persist" in changes:
            _persist(ctx, entry, match_on, config)

    _ready(ctx, wish, mount)
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, wish.name, config),
        words=Words(f"{name} is mounted", f"{name} would be mounted", f"{name} was mounted"),
    )


def _place(name: str) -> str:
    if not name.startswith("/"):
        raise Refused(f"{name!r} is no absolute path")
    return os.path.normpath(name) if len(name) > 1 else name


def _options(opts: Sequence[str] | None) -> tuple[str, ...]:
    given = [part.strip() for one in opts or () for part in one.split(",") if part.strip()]
    return tuple(one_line(opt, "opts") for opt in given) or ("defaults",)


def _entry(device: str, name: str, fstype: str, opts: tuple[str, ...], dump: int, pass_num: int) -> Entry:
    return Entry(
        device=device,
        name=name,
        fstype=one_line(fstype, "fstype"),
        opts=",".join(opts),
        dump=str(dump),
        pass_num=str(pass_num),
    )


def _ready(ctx: Context, wish: Wish, mount: bool) -> None:
    """What must be there before a mount; in test mode an earlier state may still make it."""
    if mount and not ctx.test and not wish.mkmnt and not os.path.isdir(wish.name):
        raise Refused(f"{wish.name} is no directory, so nothing can be mounted there; make it, or set mkmnt")


def _mount_changes(ctx: Context, wish: Wish) -> Changes:
    now = mounts.at(ctx, wish.name)
    if now is None:
        return {"mount": True}
    if not mounts.is_device(now, wish.device, wish.opts, wish.patterns):
        why = f"Forced unmount because devices don't match. Wanted: {wish.device}, current: {now.device}"
        return {"umount": why, "mount": True}
    changed = mounts.options_not_in_force(now, wish.compared)
    if changed:
        return {"umount": f"Forced remount because options ({', '.join(changed)}) changed"}
    return {}


def _mount(ctx: Context, wish: Wish, changes: Changes) -> None:
    if wish.mkmnt:
        ctx.host.makedirs(wish.name)
    if "mount" not in changes:
        mounts.remount(ctx, wish.name, wish.opts, user=wish.user)
        return
    if "umount" in changes:
        mounts.unmount(ctx, wish.name, user=wish.user)
    mounts.mount(ctx, wish.name, wish.device, wish.fstype, wish.opts, user=wish.user)


def _persist(ctx: Context, entry: Entry, match_on: str, config: str) -> None:
    table = fstab.read(ctx, config)
    fstab.write(ctx, table.with_entry(entry, table.find(entry, match_on)), config)


def _facts(ctx: Context, name: str, config: str) -> Changes:
    now = mounts.at(ctx, name)
    kept = any(entry.name == name for entry in fstab.read(ctx, config).entries)
    if now is None:
        return {"name": name, "mounted": False, "persisted": kept}
    known: Changes = {"device": now.device, "fstype": now.fstype, "opts": list(now.opts)}
    return {"name": name, "mounted": True, "persisted": kept, **known}


@state
def unmounted(
    ctx: Context,
    /,
    name: str,
    *,
    device: str | None = None,
    config: str = USUAL,
    persist: bool = False,
    user: str | None = None,
    **_: object,
) -> Result:
    """Make sure that nothing is mounted in a place.

    Args:
        name: the directory.
        device: only if this is what is mounted there.
        config: the fstab.
        persist: remove it from there as well.
        user: the user to unmount it as.

    Example:
        ```yaml
        /srv/data:
          mount.unmounted:
            - persist: true
        ```
    """
    place = _place(name)

    def entry() -> Entry | None:
        entries = fstab.read(ctx, config).entries
        return next((one for one in entries if one.name == place and device in (None, one.device)), None)

    def differs() -> Changes:
        now = mounts.at(ctx, place)
        here = now is not None and (device is None or mounts.is_device(now, device, ()))
        changes: Changes = {"umount": True} if here else {}
        return {**changes, **({"persist": "purged"} if persist and entry() else {})}

    def act(changes: Changes) -> None:
        if "umount" in changes:
            mounts.unmount(ctx, place, user=user)
        while "persist" in changes and (found := entry()):
            table = fstab.read(ctx, config)
            fstab.write(ctx, Fstab(tuple(line for line in table.lines if line != found)), config)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, place, config),
        words=Words(f"{name} is not mounted", f"{name} would be unmounted", f"{name} was unmounted"),
    )


@state
def swap(ctx: Context, name: str, *, persist: bool = True, config: str = USUAL) -> Result:
    """Make sure that a device or a file is swapped to.

    Args:
        name: the device or file, formatted with ``mkswap``.
        persist: keep it in fstab.
        config: the fstab.

    Example:
        ```yaml
        /swapfile:
          mount.swap: []
        ```
    """
    entry = _entry(one_line(name, "the device"), "none", "swap", ("defaults",), 0, 0)

    def differs() -> Changes:
        on = mounts.real_device(name) in mounts.swaps(ctx)
        known = any(one.device == name and one.fstype == "swap" for one in fstab.read(ctx, config).entries)
        changes: Changes = {} if on else {"new": True}
        return {**changes, **({"persist": "new"} if persist and not known else {})}

    def act(changes: Changes) -> None:
        if "new" in changes:
            tool(ctx, "swapon", name)
        if "persist" in changes:
            _persist(ctx, entry, "device", config)

    if name.startswith("-"):
        raise Refused(f"{name!r} cannot be swapped to")
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"name": name, **mounts.swaps(ctx).get(mounts.real_device(name), {})},
        words=Words(
            f"Swap {name} is active", f"Swap {name} would be activated", f"Swap {name} was activated"
        ),
    )


@state
def fstab_present(
    ctx: Context,
    name: str,
    *,
    fs_file: str,
    fs_vfstype: str,
    fs_mntops: list[str] | None = None,
    fs_freq: int = 0,
    fs_passno: int = 0,
    mount_by: str | None = None,
    config: str = USUAL,
    mount: bool = True,  # noqa: ARG001 - AIX has it
    match_on: str = "auto",
    not_change: bool = False,
    fs_mount: bool = True,  # noqa: ARG001
) -> Result:
    """Make sure that there is an entry in fstab. Mounts nothing.

    Args:
        name: the device.
        fs_file: the directory, or ``none``.
        fs_vfstype: the type of the file system.
        fs_mntops: mount options.
        fs_freq, fs_passno: the last two fields.
        mount_by: write the device as its ``label``, ``uuid``, ``partlabel``, ``partuuid``, or as it is.
        config: the fstab.
        mount, fs_mount: of no effect.
        match_on: what finds an entry that is there: ``name``, ``device``, or ``auto``.
        not_change: leave an entry that is there as it is.

    Example:
        ```yaml
        /dev/sdb1:
          mount.fstab_present:
            - fs_file: /srv
            - fs_vfstype: xfs
            - mount_by: uuid
        ```
    """
    entry = _entry(
        _device_by(ctx, name, mount_by), fs_file, fs_vfstype, _options(fs_mntops), fs_freq, fs_passno
    )

    def differs() -> Changes:
        todo = fstab.settle(fstab.read(ctx, config), entry, match_on, keep=not_change)
        return {"persist": todo} if todo else {}

    return bring(
        ctx,
        differs,
        lambda _: _persist(ctx, entry, match_on, config),
        facts=lambda: _entry_facts(ctx, entry, match_on, config),
        words=Words(
            f"{fs_file} is in {config}", f"{fs_file} would be written to {config}", f"{config} was written"
        ),
    )


def _entry_facts(ctx: Context, entry: Entry, match_on: str, config: str) -> Changes:
    have = fstab.read(ctx, config).find(entry, match_on)
    return {
        "file": config,
        "fs_file": entry.name,
        "exists": have is not None,
        **(have.asdict() if have else {}),
    }


def _device_by(ctx: Context, device: str, mount_by: str | None) -> str:
    if mount_by in (None, "device"):
        return one_line(device, "the device")
    if mount_by not in BY:
        raise Refused(f"mount_by cannot be {mount_by!r}; it is one of device, {', '.join(BY)}")
    tag = BY[str(mount_by)]
    value = tool(ctx, "blkid", "-s", tag, "-o", "value", "--", device).out.strip()
    if not value:
        raise Refused(f"{device} has no {mount_by}")
    return f"{tag}={value}"


@state
def fstab_absent(
    ctx: Context, name: str, *, fs_file: str, mount_by: str | None = None, config: str = USUAL
) -> Result:
    """Make sure that there is no such entry in fstab. Unmounts nothing.

    Args:
        name: the device.
        fs_file: the directory, or ``none``.
        mount_by: as in ``fstab_present``.
        config: the fstab.

    Example:
        ```yaml
        /dev/sdb1:
          mount.fstab_absent:
            - fs_file: /srv
        ```
    """
    device = _device_by(ctx, name, mount_by)

    def found() -> Entry | None:
        entries = fstab.read(ctx, config).entries
        return next((one for one in entries if (one.device, one.name) == (device, fs_file)), None)

    def act(_: Changes) -> None:
        while entry := found():
            table = fstab.read(ctx, config)
            fstab.write(ctx, Fstab(tuple(line for line in table.lines if line != entry)), config)

    return bring(
        ctx,
        lambda: {"persist": "removed"} if found() else {},
        act,
        facts=lambda: {"file": config, "fs_file": fs_file, "exists": found() is not None},
        words=Words(f"{fs_file} is not in {config}", f"{fs_file} would be removed", f"{fs_file} was removed"),
    )


@state
def mod_watch(
    ctx: Context,
    /,
    name: str,
    *,
    sfun: str = "mounted",
    opts: list[str] | None = None,
    config: str = USUAL,
    user: str | None = None,
    **_: object,
) -> Result:
    """What ``mount.mounted`` does when something it watches has changed: it mounts again, in place."""
    if sfun != "mounted":
        return failed(f"mount.{sfun} cannot react to a watch; use mount.mounted")
    outcome, comment = Outcome.WOULD_CHANGE, f"{name} would be remounted"
    if not ctx.test:
        mounts.remount(ctx, _place(name), _options(opts), user=user)
        outcome, comment = Outcome.OK, f"{name} was remounted"
    return Result(
        outcome=outcome, comment=comment, changes={"remount": True}, data=_facts(ctx, _place(name), config)
    )
