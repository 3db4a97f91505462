"""The entries of an archive, and the limits for unpacking."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

MOST_ENTRIES = 1_000_000
MOST_BYTES = 32 << 30
MOST_RATIO = 200
UNSUSPICIOUS = 256 << 20  # bytes that any archive may unpack to, however small it is itself
MOST_TEXT = 128 << 20  # bytes of names, links and headers, all of which are held in memory


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One member. ``name`` is its destination; ``member`` is its name in the archive."""

    name: str
    kind: str  # file, directory, link or hardlink; others cannot be unpacked
    member: str = ""
    size: int = 0
    target: str = ""
    mode: int | None = None
    time: int | None = None
    uid: int | None = None
    gid: int | None = None


class Limits(Struct, frozen=True):
    """The limits of an archive: a small file can unpack to more than a disk."""

    entries: int = MOST_ENTRIES
    size: int = MOST_BYTES
    ratio: int = MOST_RATIO

    def room(self, path: str) -> int:
        """The bytes that this archive may unpack to, in proportion to its size."""
        return min(self.size, max(UNSUSPICIOUS, self.ratio * os.path.getsize(path)))


OPTIONS = ("archive_max_entries", "archive_max_size", "archive_max_ratio")


def limits_of(ctx: Context) -> Limits:
    """``archive_max_entries``, ``archive_max_size`` and ``archive_max_ratio`` of the configuration."""
    usual = (ctx.settings.archive_max_entries, ctx.settings.archive_max_size, ctx.settings.archive_max_ratio)
    given = [ctx.opts.get(name) for name in OPTIONS]
    return Limits(
        *(one if isinstance(one, int) and one > 0 else most for one, most in zip(given, usual, strict=True))
    )


class Meter:
    """Counts while an archive is read, so that a bomb is detected before it fills the disk or the memory."""

    def __init__(self, limits: Limits, path: str) -> None:
        self._limits = limits
        self._room = limits.room(path)
        self.entries = 0
        self.size = 0
        self._text = 0

    def add(self, size: int, text: int = 0) -> None:
        """Count an entry with its size and the length of its names."""
        if size < 0:
            raise Refused("the archive is refused: an entry of it has a negative size")
        self.entries += 1
        self.size += size
        self._text += text
        if self.entries > self._limits.entries:
            raise too_much(f"has more than {self._limits.entries} entries", "archive_max_entries")
        if self._text > MOST_TEXT:
            raise too_much(f"has names of more than {MOST_TEXT} bytes in all", "")
        self.check(self.size)

    def check(self, size: int) -> None:
        if size > self._limits.size:
            raise too_much(f"unpacks to more than {self._limits.size} bytes", "archive_max_size")
        if size > self._room:
            words = f"unpacks to more than {self._limits.ratio} times its own size ({self._room} bytes)"
            raise too_much(words, "archive_max_ratio")


def too_much(what: str, option: str) -> Refused:
    advice = f"; raise {option} if it is intended" if option else ""
    return Refused(f"the archive {what}, which looks like an attack{advice}")


def toplevel(entries: Iterable[Entry]) -> tuple[list[str], list[str]]:
    """The directories and the other entries at the top level."""
    directories: dict[str, None] = {}
    others: dict[str, None] = {}
    for entry in entries:
        first, deeper, _ = entry.name.partition("/")
        if deeper or entry.kind == "directory":
            directories[first] = None
        elif first:
            others[first] = None
    return sorted(filter(None, directories)), sorted(others)
