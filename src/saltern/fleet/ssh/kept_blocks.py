"""Delayed blocks of files that are rendered here, stored while their job is open: ``--resume`` is another
process, which hosts ask for blocks that the first one rendered.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress

from saltern.system import atomic
from saltern.system.private import make_private

SUFFIX = ".blocks"


class KeptBlocks:
    """The blocks of one job, one file each, which only this user can read: they may hold pillar data."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def keep(self, host: str, name: str, data: bytes) -> None:
        """Store a block before its host learns of it."""
        make_private(self._directory)
        atomic.write(os.path.join(self._directory, f"{_tag(host)}-{name}"), data)

    def of(self, host: str) -> dict[str, bytes]:
        """All blocks of a host, by their names."""
        head = f"{_tag(host)}-"
        try:
            names = [name for name in os.listdir(self._directory) if name.startswith(head)]
        except FileNotFoundError:
            return {}
        return {name.removeprefix(head): self._read(name) for name in names}

    def _read(self, name: str) -> bytes:
        with open(os.path.join(self._directory, name), "rb") as file:
            return file.read()

    def forget(self, host: str) -> None:
        """Remove those of a host on which the job has ended."""
        for name in self.of(host):
            os.remove(os.path.join(self._directory, f"{_tag(host)}-{name}"))
        with suppress(OSError):  # blocks of other hosts still exist, or there never were any
            os.rmdir(self._directory)

    def remove(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self._directory, ignore_errors=True)


def _tag(host: str) -> str:
    """A name of a file for an id, which may have any characters."""
    return hashlib.sha256(host.encode()).hexdigest()[:16]
