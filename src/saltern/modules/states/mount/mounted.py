"""``mount.mounted`` and ``mount.unmounted``: mount and unmount file systems, now and after a reboot."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import fstab, mounts
from saltern.modules.lib.tables.fstab import USUAL, Entry
from saltern.modules.states.mount.fstab import drop, entry_of, facts, keep, options_of, place_of


class DesiredMount(Struct, frozen=True, kw_only=True):
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
    match_on: str | list[str] = "auto",
    device_name_regex: list[str] | None = None,
    extra_mount_invisible_options: list[str] | None = None,
    extra_mount_invisible_keys: list[str] | None = None,
    extra_mount_ignore_fs_keys: dict[str, object] | None = None,
    hidden_opts: list[str] | None = None,
    **_: Unused,
) -> Result:
    """Make sure that a device is mounted, now and after a reboot.

    Args:
        name: the directory.
        device: what to mount: a device, ``UUID=…``, ``LABEL=…``, ``host:/path``, or a directory.
        fstype: the type of the file system.
        mkmnt: create the directory if it is missing.
        opts: mount options, as a list or separated by commas.
        dump, pass_num: the last two fields of fstab.
        config: the fstab that keeps it across reboots.
        persist: write it to ``config``; false only mounts it.
        mount: false only writes it to ``config``.
        user: the user to mount it as.
        match_on: the fields by which its entry in fstab is found, such as ``name`` or ``device``. ``auto`` is
            the device, or the directory for types such as tmpfs and nfs, and if no entry has the device.
        device_name_regex: patterns for other names of the same device.
        extra_mount_invisible_options, extra_mount_invisible_keys, extra_mount_ignore_fs_keys: options that
            are not compared with those of the mounted file system.
        hidden_opts: options that are neither compared nor shown, such as ``password``.

    Example:
        ```yaml
        /srv/data:
          mount.mounted:
            - device: tmpfs
            - fstype: tmpfs
            - opts: noatime,nodev
            - mkmnt: true
        ```
    """
    ignored = (extra_mount_ignore_fs_keys or {}).get(fstype)
    lists = (extra_mount_invisible_options, extra_mount_invisible_keys, hidden_opts)
    unseen = {str(one) for some in lists for one in some or ()} | set(
        ignored if isinstance(ignored, list) else ()
    )
    want = DesiredMount(
        name=place_of(name),
        device=one_line(device, "device"),
        fstype=fstype,
        opts=options_of(opts),
        not_compared=frozenset(unseen),
        patterns=tuple(device_name_regex or ()),
        mkmnt=mkmnt,
        user=user,
    )
    entry = entry_of(device, want.name, fstype, want.opts, dump, pass_num)

    def differs() -> Changes:
        changes = _mount_changes(ctx, want) if mount else {}
        todo = fstab.settle(fstab.read(ctx, config), entry, match_on) if persist else ""
        return {**changes, **({"persist": todo} if todo else {})}

    def act(changes: Changes) -> None:
        if changes.keys() & {"mount", "umount"}:
            _mount(ctx, want, changes)
        if "persist" in changes:
            if mkmnt:
                ctx.host.makedirs(want.name)
            keep(ctx, entry, match_on, config)

    _ready(ctx, want, mount)
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts(ctx, want.name, config),
        words=Words(f"{name} is mounted", f"{name} would be mounted", f"{name} was mounted"),
    )


def _ready(ctx: Context, want: DesiredMount, mount: bool) -> None:
    """Check that the mount point exists, or create it; in test mode an earlier state may still create it."""
    if mount and not ctx.test and not want.mkmnt and not os.path.isdir(want.name):
        raise Refused(
            f"{want.name} is not a directory, so nothing can be mounted there; create it, or set mkmnt"
        )


def _mount_changes(ctx: Context, want: DesiredMount) -> Changes:
    now = mounts.at(ctx, want.name)
    if now is None:
        return {"mount": True}
    if not mounts.is_device(now, want.device, want.opts, want.patterns):
        why = f"Forced unmount because devices don't match. Wanted: {want.device}, current: {now.device}"
        return {"umount": why, "mount": True}
    changed = mounts.options_not_in_force(now, want.compared)
    if changed:
        return {"umount": f"Forced remount because options ({', '.join(changed)}) changed"}
    return {}


def _mount(ctx: Context, want: DesiredMount, changes: Changes) -> None:
    if want.mkmnt:
        ctx.host.makedirs(want.name)
    if "mount" not in changes:
        mounts.remount(ctx, want.name, want.opts, user=want.user)
        return
    if "umount" in changes:
        mounts.unmount(ctx, want.name, user=want.user)
    mounts.mount(ctx, want.name, want.device, want.fstype, want.opts, user=want.user)


@state(removes=True)
def unmounted(
    ctx: Context,
    /,
    name: str,
    *,
    device: str | None = None,
    config: str = USUAL,
    persist: bool = False,
    user: str | None = None,
    **_: Unused,
) -> Result:
    """Make sure that nothing is mounted on a directory.

    Args:
        name: the directory.
        device: unmount only this device.
        config: the fstab.
        persist: remove it from ``config`` as well.
        user: the user to unmount it as.

    Example:
        ```yaml
        /srv/data:
          mount.unmounted:
            - device: tmpfs
            - persist: true
        ```
    """
    place = place_of(name)

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
            drop(ctx, found, config)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts(ctx, place, config),
        words=Words(f"{name} is not mounted", f"{name} would be unmounted", f"{name} was unmounted"),
    )
