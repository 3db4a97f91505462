"""Room on the disk that is taken beforehand, so that how a leg ended can be written to a full disk."""

from __future__ import annotations

import os
from contextlib import suppress

from saltern.system.regular import open_regular

SIZE = 1 << 20  # bytes
LITTLE = 1 << 18  # of room: less is a full disk


class Reserve:
    """One file in the folder of the legs."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "reserve")

    def make(self) -> None:
        with suppress(OSError):
            file = open_regular(self._path, os.O_WRONLY | os.O_CREAT)
            try:
                os.posix_fallocate(file, 0, SIZE)
            finally:
                os.close(file)

    def is_disk_full(self) -> bool:
        """SQLite has many words for that; the disk has one."""
        disk = os.statvfs(self._folder)
        return disk.f_bavail * disk.f_frsize < LITTLE

    def give_up(self) -> bool:
        """Remove it; True if there was one."""
        try:
            os.remove(self._path)
        except OSError:
            return False
        return True
