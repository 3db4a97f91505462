"""``disk``: create file systems, and tune block devices."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import unknown_argument
from saltern.modules.api.programs import PLAIN_WORDS, tool
from saltern.modules.api.refused import Refused
from saltern.modules.functions.disk.devices import device_of, dump

TUNED: Mapping[str, str] = {
    "read-ahead": "setra",
    "filesystem-read-ahead": "setfra",
    "read-only": "setro",
    "read-write": "setrw",
}
SWITCHES = ("read-only", "read-write")
FATS = (12, 16, 32)


@function
def tune(ctx: Context, /, device: str, **kwargs: object) -> object:
    """Set the kernel's values for a block device. Returns the new values.

    Args:
        device: the device.
        kwargs: ``read-ahead``, ``filesystem-read-ahead`` (in sectors), ``read-only``, ``read-write``.

    Example:
        ```console
        $ saltern call disk.tune /dev/sda1 read-ahead=1024
        ```
    """
    words: list[str] = []
    for name, value in kwargs.items():
        if name not in TUNED:
            raise Refused(unknown_argument(name, TUNED))
        if name in SWITCHES and str(value) != "True":
            raise Refused(f"{name} can only be set to true")
        words += [f"--{TUNED[name]}", *([] if name in SWITCHES else [str(value)])]
    if not words:
        raise Refused(f"nothing to set; give one of {', '.join(TUNED)}")
    tool(ctx, "blockdev", *words, device_of(device))
    asked = ["getro" if name in SWITCHES else TUNED[name].replace("set", "get") for name in kwargs]
    return dump(ctx, device, asked)


@function
def wipe(ctx: Context, device: str) -> bool:
    """Remove the signatures of file systems from a device. Returns true on success.

    Args:
        device: the device.

    Example:
        ```console
        $ truncate -s 8M /tmp/disk.img
        $ saltern call disk.wipe /tmp/disk.img
        local:
            True
        ```
    """
    return ctx.host.run(["wipefs", "-a", device_of(device)], env=PLAIN_WORDS).code == 0


@function
def resize2fs(ctx: Context, device: str) -> bool:
    """Resize an ext file system to fill its device.

    Args:
        device: the device.

    Example:
        ```console
        $ truncate -s 8M /tmp/disk.img
        $ mkfs.ext4 -q /tmp/disk.img 4M
        $ saltern call disk.resize2fs /tmp/disk.img
        local:
            True
        ```
    """
    tool(ctx, "resize2fs", device_of(device))
    return True


@function(name="format")
def format_(
    ctx: Context,
    device: str,
    fs_type: str = "ext4",
    inode_size: int | None = None,
    lazy_itable_init: int | None = None,
    fat: int | None = None,
    force: bool = False,
) -> bool:
    """Create a file system on a device, whose data is lost. Returns true on success.

    Args:
        device: the device.
        fs_type: the kind of file system.
        inode_size: the size of inodes, for ext and xfs.
        lazy_itable_init: ext: let the kernel initialize the inode tables later.
        fat: 12, 16 or 32, for fat and vfat.
        force: do it even if the device is not empty.

    Example:
        ```console
        $ truncate -s 8M /tmp/disk.img
        $ saltern call disk.format /tmp/disk.img ext4 force=True
        local:
            True
        ```
    """
    kind = str(fs_type)
    if not kind.replace(".", "").isalnum():
        raise Refused(f"no file system is called {kind!r}")
    words = ["mkfs", "-t", kind, *_options(kind, inode_size, lazy_itable_init, fat, force), device_of(device)]
    made = ctx.host.run(words, env=PLAIN_WORDS, stdin="").code == 0
    return ctx.host.run(["sync"]).code == 0 and made


def _options(kind: str, inode_size: int | None, lazy: int | None, fat: int | None, force: bool) -> list[str]:
    if kind.startswith("ext"):
        words = ["-I", str(int(inode_size))] if inode_size else []
        words += ["-E", f"lazy_itable_init={int(lazy)}"] if lazy is not None else []
        return [*words, "-F"] if force else words
    if kind == "xfs":
        words = ["-i", f"size={int(inode_size)}"] if inode_size else []
        return [*words, "-f"] if force else words
    if kind.endswith("fat") and fat is not None:
        if int(fat) not in FATS:
            raise Refused(f"fat must be 12, 16 or 32, not {fat!r}")
        return ["-F", str(int(fat))]
    return []
