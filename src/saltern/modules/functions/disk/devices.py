"""``disk``: the contents of block devices."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import PLAIN_WORDS, tool
from saltern.modules.api.refused import Refused

NOTHING = 2  # blkid: no such device, or nothing on it
ASKED = (
    "getro",
    "getsz",
    "getss",
    "getpbsz",
    "getiomin",
    "getioopt",
    "getalignoff",
    "getmaxsect",
    "getsize64",
    "getra",
    "getfra",
)


def device_of(device: str) -> str:
    if not str(device).startswith("/"):
        raise Refused(f"a device is named by its path, such as /dev/sda1, not {device!r}")
    return str(device)


@function
def blkid(ctx: Context, device: str | None = None, token: str | None = None) -> dict[str, dict[str, str]]:
    """The contents of block devices: ``UUID``, ``LABEL``, ``TYPE`` and more, by device.

    Args:
        device: only this device.
        token: only devices with this value, such as ``TYPE=ext4``.

    Example:
        ```console
        $ saltern call disk.blkid token=TYPE=ext4
        ```
    """
    chosen = [device_of(device)] if device else ["-t", str(token)] if token else []
    reported = tool(ctx, "blkid", "-o", "export", *chosen, accept=(0, NOTHING)).out
    found: dict[str, dict[str, str]] = {}
    for block in reported.split("\n\n"):
        pairs = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if name := pairs.pop("DEVNAME", ""):
            found[name] = {key: _plain(value) for key, value in pairs.items()}
    return found


def _plain(value: str) -> str:
    """The value without the backslashes before characters that are special to shells."""
    return re.sub(r"\\(.)", r"\1", value)


@function
def fstype(ctx: Context, device: str) -> str:
    """The kind of file system on a device, or an empty text.

    Args:
        device: the device.

    Example:
        ```console
        $ truncate -s 8M /tmp/disk.img
        $ mkfs.ext4 -q /tmp/disk.img
        $ saltern call disk.fstype /tmp/disk.img
        local:
            ext4
        ```
    """
    return blkid(ctx, device).get(device, {}).get("TYPE", "")


@function
def dump(ctx: Context, device: str, args: object = None) -> object:
    """The kernel's values for a block device: sizes, read-ahead and more; false if it is not a block device.

    Args:
        device: the device.
        args: only these values, such as ``getsize64``.

    Example:
        ```console
        $ saltern call disk.dump /dev/sda
        ```
    """
    argv = ["blockdev", *(f"--{name}" for name in ASKED), device_of(device)]
    ran = ctx.host.run(argv, env=PLAIN_WORDS)
    if ran.code:
        return False
    found = dict(zip(ASKED, ran.out.split(), strict=False))
    wanted = args if isinstance(args, list | tuple) else [args] if args else []
    return {str(name): found.get(str(name)) for name in wanted} if wanted else found
