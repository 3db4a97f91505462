"""Reserves disk space, so that the end of a leg can be recorded on a full disk."""

from __future__ import annotations

import os
from contextlib import suppress

from saltern.system.regular import open_regular

SIZE = 1 << 20  # bytes
LITTLE = 1 << 18  # bytes; a disk with less free space is full


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
        """True if the disk is full. The disk is checked directly, since SQLite reports a full one in many
        ways.
        """
        disk = os.statvfs(self._folder)
        return disk.f_bavail * disk.f_frsize < LITTLE

    def give_up(self) -> bool:
        """Remove the reserve; True if there was one."""
        try:
            os.remove(self._path)
        except OSError:
            return False
        return True
