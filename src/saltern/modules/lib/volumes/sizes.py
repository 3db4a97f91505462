"""Sizes in LVM's notation."""

from __future__ import annotations

import re

from saltern.modules.api.refused import Refused

# As in LVM, in either case: powers of 1024, and sectors of 512 bytes.
UNITS = {
    "b": 1,
    "s": 512,
    "k": 1 << 10,
    "m": 1 << 20,
    "g": 1 << 30,
    "t": 1 << 40,
    "p": 1 << 50,
    "e": 1 << 60,
}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([bskmgtpe])|([kmgtpe])i?b)?", re.IGNORECASE)


def in_bytes(size: object) -> int:
    """The bytes of ``10G``, ``512MB`` or ``2048s``; a bare number is in MiB. Raises ``Refused`` for
    others.
    """
    found = SIZE.fullmatch(str(size).strip())
    if found is None:
        raise Refused(f"size needs a number with a unit such as 10G, got {size!r}")
    unit = (found[2] or found[3] or "m").lower()
    number = int(float(found[1]) * UNITS[unit]) if "." in found[1] else int(found[1]) * UNITS[unit]
    if number <= 0:
        raise Refused(f"size must be more than 0, got {size!r}")
    return number


def extents_for(size: int, extent: int) -> int:
    """The number of extents for a size, rounded up as in LVM."""
    return -(-size // extent)
