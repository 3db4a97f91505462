"""Watches the disk of the broker's streams: full now, or full since the broker was started.

A broker that could not write does not try again when there is room: its streams refuse everything until it is
restarted. So a write error in its log is remembered until then.
"""

from __future__ import annotations

import os
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

FULL = 16 * 1024 * 1024  # bytes: with less, a disk of a usual size counts as full
SHARE = 100  # of a small disk, one part in so many
WORDS = (b"no space left on device", b"disk quota exceeded", b"Critical write error")
AGAIN = 60.0  # seconds between two restarts, if the first one did not help


class Room(Struct, frozen=True):
    """The bytes of a file system, and those that are free."""

    free: int
    size: int

    @property
    def least(self) -> int:
        return min(FULL, self.size // SHARE)


class Disk(Struct, frozen=True):
    """The state of the disk. ``failed``: the broker has failed to write since it was started."""

    is_full: bool = False
    failed: bool = False
    restarted: float = float("-inf")


def judge(before: Disk, room: Room, *, complained: bool, now: float) -> tuple[Disk, Literal["restart", ""]]:
    """The state after a check, and what to do. A full disk counts as free again with twice the limit."""
    is_full = room.free < room.least * (2 if before.is_full else 1)
    after = replace(before, is_full=is_full, failed=before.failed or complained or is_full)
    if after.is_full or not after.failed or now - before.restarted < AGAIN:
        return after, ""
    return Disk(restarted=now), "restart"


def look(path: str) -> Room:
    found = os.statvfs(path)
    return Room(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)


class BrokerLog:
    """Reads the log of the broker from where it left off; a file that has become shorter is a new log."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._read = self._size()

    def _size(self) -> int:
        try:
            return os.path.getsize(self._path)
        except OSError:
            return 0

    def complained(self) -> bool:
        """True if the broker has logged since the last call that it cannot write."""
        begin = self._read if self._read <= self._size() else 0
        try:
            with open(self._path, "rb") as file:
                file.seek(begin)
                data = file.read()
        except OSError:
            return False
        self._read = begin + len(data)
        return any(word in data for word in WORDS)
