"""``mount.fstab_present`` and ``mount.fstab_absent``: entries of fstab."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import fstab, mounts
from saltern.modules.lib.tables.fstab import USUAL, Entry, shown_option
from saltern.modules.states.mount.fstab import drop, entry_of, keep, options_of

BY = {"label": "LABEL", "uuid": "UUID", "partlabel": "PARTLABEL", "partuuid": "PARTUUID"}


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
    mount: bool = True,
    match_on: str | list[str] = "auto",
    not_change: bool = False,
) -> Result:
    """Make sure that an entry is in fstab. A new one is mounted; nothing is remounted.

    Args:
        name: the device.
        fs_file: the directory, or ``none``.
        fs_vfstype: the type of the file system.
        fs_mntops: mount options.
        fs_freq, fs_passno: the last two fields.
        mount_by: write the device by its ``label``, ``uuid``, ``partlabel`` or ``partuuid``, or as given.
        config: the fstab.
        mount: mount a new entry at once, unless something is mounted there.
        match_on: the fields by which an existing entry is found, such as ``name`` or ``device``. ``auto`` is
            the device, or the directory for types such as tmpfs and nfs, and if no entry has the device.
        not_change: do not change an existing entry.

    Example:
        ```yaml
        server:/export/home:
          mount.fstab_present:
            - fs_file: /home
            - fs_vfstype: nfs
            - fs_mntops: ro,soft
            - mount: false
        ```
    """
    entry = entry_of(
        _device_by(ctx, name, mount_by), fs_file, fs_vfstype, options_of(fs_mntops), fs_freq, fs_passno
    )

    def differs() -> Changes:
        todo = fstab.settle(fstab.read(ctx, config), entry, match_on, keep=not_change)
        return {"persist": "change" if todo == "update" else todo} if todo else {}

    def act(changes: Changes) -> None:
        keep(ctx, entry, match_on, config)
        if mount and changes["persist"] == "new" and fs_file.startswith("/") and not mounts.at(ctx, fs_file):
            mounts.mount(ctx, fs_file, entry.device, fs_vfstype, entry.opts.split(","))

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _entry_facts(ctx, entry, match_on, config),
        words=Words(
            f"{fs_file} is in {config}", f"{fs_file} would be written to {config}", f"{config} was written"
        ),
    )


def _entry_facts(ctx: Context, entry: Entry, match_on: fstab.Match, config: str) -> Changes:
    have = fstab.read(ctx, config).find(entry, match_on)
    known: Changes = {"file": config, "fs_file": entry.name, "exists": have is not None}
    if have is None:
        return known
    return known | have.asdict() | {"opts": [shown_option(opt) for opt in have.opts.split(",")]}


def _device_by(ctx: Context, device: str, mount_by: str | None) -> str:
    if mount_by in (None, "device"):
        return one_line(device, "the device")
    if mount_by not in BY:
        raise Refused(f"mount_by cannot be {mount_by!r}; it must be one of device, {', '.join(BY)}")
    tag = BY[str(mount_by)]
    value = tool(ctx, "blkid", "-s", tag, "-o", "value", "--", device).out.strip()
    if not value:
        raise Refused(f"{device} has no {mount_by}")
    return f"{tag}={value}"


@state
def fstab_absent(
    ctx: Context, name: str, *, fs_file: str, mount_by: str | None = None, config: str = USUAL
) -> Result:
    """Make sure that an entry is not in fstab. Unmounts nothing.

    Args:
        name: the device.
        fs_file: the directory, or ``none``.
        mount_by: as in ``fstab_present``.
        config: the fstab.

    Example:
        ```yaml
        server:/export/home:
          mount.fstab_absent:
            - fs_file: /home
        ```
    """
    device = _device_by(ctx, name, mount_by)

    def find() -> Entry | None:
        entries = fstab.read(ctx, config).entries
        return next((one for one in entries if (one.device, one.name) == (device, fs_file)), None)

    def act(_: Changes) -> None:
        while entry := find():
            drop(ctx, entry, config)

    return bring(
        ctx,
        lambda: {"persist": "removed"} if find() else {},
        act,
        facts=lambda: {"file": config, "fs_file": fs_file, "exists": find() is not None},
        words=Words(f"{fs_file} is not in {config}", f"{fs_file} would be removed", f"{fs_file} was removed"),
    )
