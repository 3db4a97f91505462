"""Mounted file systems and active swap, and how they compare with an entry."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.tables.fstab import plain

MOUNTS = "/proc/self/mountinfo"
SWAPS = "/proc/swaps"
TAGS = {
    "UUID": "/dev/disk/by-uuid",
    "LABEL": "/dev/disk/by-label",
    "PARTUUID": "/dev/disk/by-partuuid",
    "PARTLABEL": "/dev/disk/by-partlabel",
}

# Options that the kernel shows. Others may be in force without being shown, so they are not compared.
SHOWN = frozenset({"ro", "nosuid", "nodev", "noexec", "noatime", "nodiratime", "sync", "dirsync"})
OPPOSITES = {
    "rw": "ro",
    "suid": "nosuid",
    "dev": "nodev",
    "exec": "noexec",
    "atime": "noatime",
    "diratime": "nodiratime",
    "async": "sync",
}
VALUED = frozenset({"size", "mode", "uid", "gid", "nr_inodes"})
WITH_VALUES = frozenset({"tmpfs", "devtmpfs", "vfat"})
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
UNSHOWN_DEFAULTS = {"uid": "0", "gid": "0", "mode": "1777"}


class Mount(Struct, frozen=True, kw_only=True):
    name: str
    device: str
    fstype: str
    opts: tuple[str, ...]
    root: str = "/"


def active(ctx: Context) -> dict[str, Mount]:
    """All mounted file systems by path; of several on one path, the topmost."""
    found: dict[str, Mount] = {}
    for line in (ctx.host.read(MOUNTS) or "").splitlines():
        left, _, right = line.partition(" - ")
        words, rest = left.split(), right.split()
        if len(words) < 6 or len(rest) < 2:
            continue
        opts = (*words[5].split(","), *(rest[2].split(",") if len(rest) > 2 else ()))
        place = plain(words[4])
        found[place] = Mount(
            name=place,
            device=plain(rest[1]),
            fstype=rest[0],
            opts=tuple(dict.fromkeys(opts)),
            root=plain(words[3]),
        )
    return found


def at(ctx: Context, name: str) -> Mount | None:
    mounts = active(ctx)
    return mounts.get(name) or mounts.get(os.path.realpath(name))


def swaps(ctx: Context) -> dict[str, dict[str, object]]:
    """All active swap, by device or file."""
    rows = (line.split() for line in (ctx.host.read(SWAPS) or "").splitlines()[1:])
    return {
        plain(row[0]): {"type": row[1], "size": row[2], "used": row[3], "priority": row[4]}
        for row in rows
        if len(row) >= 5
    }


def real_device(device: str) -> str:
    """The device of a tag or a link; anything else unchanged."""
    tag, _, value = device.partition("=")
    if tag.upper() in TAGS and value:
        device = f"{TAGS[tag.upper()]}/{value.strip(chr(34))}"
    return os.path.realpath(device) if device.startswith("/") else device.rstrip("/") or device


def is_device(mount: Mount, device: str, opts: Sequence[str], patterns: Sequence[str] = ()) -> bool:
    """True if the mounted device is this one."""
    if {"bind", "rbind"} & set(opts):
        return _same_directory(device, mount.name)
    if "/" not in mount.device and ":" not in mount.device:  # tmpfs, proc …: its name has no meaning
        return "/" not in device
    if any(re.search(pattern, mount.device) for pattern in patterns):
        return True
    return real_device(device) in (real_device(mount.device), _backing_file(mount.device))


def _same_directory(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _backing_file(device: str) -> str:
    """The file of a loop device."""
    try:
        with open(f"/sys/block/{os.path.basename(device)}/loop/backing_file", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def options_not_in_force(mount: Mount, opts: Sequence[str]) -> list[str]:
    """The options that the kernel would show if in force, but does not."""
    values = dict(opt.split("=", 1) for opt in mount.opts if "=" in opt)
    return [opt for opt in opts if not _in_force(opt, mount, values)]


def _in_force(opt: str, mount: Mount, values: dict[str, str]) -> bool:
    key, _, value = opt.partition("=")
    if opt in OPPOSITES:
        return OPPOSITES[opt] not in mount.opts
    if opt in SHOWN:
        return opt in mount.opts
    if key in VALUED and mount.fstype in WITH_VALUES and not value.endswith("%"):
        have = values.get(key, UNSHOWN_DEFAULTS.get(key, ""))
        return _normal(key, have) == _normal(key, value)
    return True


def _normal(key: str, value: str) -> str:
    if key == "mode":
        return value.lstrip("0")
    if key in ("uid", "gid"):
        return _number(key, value)
    unit = UNITS.get(value[-1:].lower())
    number = value[:-1] if unit else value
    return str(int(number) * (unit or 1)) if number.isdigit() else value


def _number(key: str, value: str) -> str:
    if value.isdigit():
        return value
    import grp
    import pwd

    try:
        return str(pwd.getpwnam(value).pw_uid if key == "uid" else grp.getgrnam(value).gr_gid)
    except KeyError:
        return value


# -- doing -----------------------------------------------------------------------------------------


def _check_text(text: str, what: str) -> str:
    if not text or text.startswith("-") or "\n" in text:
        raise Refused(f"{text!r} cannot be {what} of a mount")
    return text


def mount(
    ctx: Context, name: str, device: str, fstype: str, opts: Sequence[str], *, user: str | None = None
) -> None:
    kind = ["-t", fstype] if fstype else []
    argv = ["mount", "-o", ",".join(opts) or "defaults", *kind]
    tool(ctx, *argv, _check_text(device, "the device"), _check_text(name, "the place"), user=user, hide=True)


def remount(ctx: Context, name: str, opts: Sequence[str], *, user: str | None = None) -> None:
    wanted = [opt for opt in opts if opt not in ("rbind", "defaults")]
    tool(
        ctx,
        "mount",
        "-o",
        ",".join(["remount", *wanted]),
        _check_text(name, "the place"),
        user=user,
        hide=True,
    )


def unmount(ctx: Context, name: str, *, user: str | None = None, lazy: bool = False) -> None:
    tool(ctx, "umount", *(["-l"] if lazy else []), _check_text(name, "the place"), user=user)
