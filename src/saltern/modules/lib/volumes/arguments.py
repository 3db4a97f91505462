"""Options of the LVM tools that states and functions pass on."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.params import unknown_argument
from saltern.modules.api.refused import Refused

VALUES = {
    "pvcreate": (
        "metadatasize dataalignment dataalignmentoffset pvmetadatacopies metadatacopies metadataignore "
        "restorefile labelsector setphysicalvolumesize uuid"
    ),
    "vgcreate": (
        "addtag alloc autobackup clustered maxlogicalvolumes maxphysicalvolumes metadatatype "
        "vgmetadatacopies metadatacopies physicalextentsize zero dataalignment dataalignmentoffset"
    ),
    "lvcreate": (
        "activate addtag alloc chunksize contiguous discards stripes stripesize minor persistent mirrors "
        "monitor permission poolmetadatasize readahead regionsize type virtualsize wipesignatures zero"
    ),
}
SWITCHES = {
    "pvcreate": "norestorefile",
    "vgcreate": "",
    "lvcreate": "nosync noudevsync ignoremonitoring thin",
}
# Arguments of the states and functions: a similar name is a typing mistake.
OWN = {
    "pvcreate": "force override",
    "vgcreate": "devices force",
    "lvcreate": "vgname size extents snapshot pv thinvolume thinpool force resizefs",
}


def arguments(program: str, options: Mapping[str, object]) -> list[str]:
    """``zero: n`` → ``--zero=n``. Raises ``Refused`` for an option that may not be passed on."""
    switches, values = SWITCHES[program].split(), VALUES[program].split()
    argv = []
    for name, value in options.items():
        if name not in switches and name not in values:
            raise Refused(unknown_argument(name, [*OWN[program].split(), *switches, *values]))
        if value is None:
            continue
        if name in switches:
            argv += [f"--{name}"] if value else []
        else:
            argv.append(f"--{name}={_word(value)}")
    return argv


def _word(value: object) -> str:
    """The value as text: YAML reads ``yes`` and ``no`` as booleans, and LVM needs y or n."""
    return ("n", "y")[value] if isinstance(value, bool) else str(value)


def list_devices(devices: object) -> list[str]:
    """The devices of a text with commas, or of a list."""
    found = devices.split(",") if isinstance(devices, str) else devices
    if not isinstance(found, list | tuple) or not found:
        raise Refused("devices needs at least one device, such as /dev/sdb1")
    return [checked_device(str(one).strip()) for one in found]


def checked_device(device: str) -> str:
    if not device.startswith("/") or "\0" in device:
        raise Refused(f"a device must be a path, such as /dev/sdb1, not {device!r}")
    return device


def checked_name(name: str | None, what: str, *, pool: bool = False) -> str:
    """A valid LVM name; with ``pool``, also ``group/pool``. Raises ``Refused`` for any other."""
    parts = (name or "").split("/") if pool else [name or ""]
    if len(parts) > 2 or not all(_is_name(part) for part in parts):
        raise Refused(f"{what} needs a name of letters, digits and + _ . -, got {name!r}")
    return name or ""


def _is_name(part: str) -> bool:
    plain = part.replace("+", "").replace("_", "").replace(".", "").replace("-", "")
    return part not in (".", "..") and plain.isascii() and plain.isalnum() and not part.startswith("-")
