"""A disk that forgets: what a loss of power leaves of the journals that a machine had written."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

FRAME = 24 + 4096  # of a WAL: its head and a page
HEAD = 32
BLOCK = 512


class Disk(Struct, frozen=True):
    """``folder`` has all journals; ``copy`` has them as they were when one was last synced."""

    folder: Path
    copy: Path

    def keep(self) -> None:
        """This much outlives a loss of power."""
        shutil.rmtree(self.copy, ignore_errors=True)
        if self.folder.exists():
            shutil.copytree(self.folder, self.copy)

    def lose(self, left: str, chance: random.Random) -> None:
        LEAVES[left](self, chance)
        self.keep()  # what is read after the boot is on the disk

    def none(self, _: random.Random) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.copy.exists():
            shutil.copytree(self.copy, self.folder)

    def cut(self, chance: random.Random) -> None:
        found = self._unsynced()
        if found is None:
            return self.none(chance)
        wal, low, high = found
        edges = [edge + by for edge in range(HEAD, high, FRAME) for by in (-1, 0, 1)]
        bytes_between = [chance.randrange(low, high) for _ in range(4)]
        os.truncate(wal, chance.choice([edge for edge in edges if low <= edge < high] + bytes_between))
        return None

    def hole(self, chance: random.Random) -> None:
        """Blocks reach the disk in any order: a later one may be there, and an earlier one not."""
        found = self._unsynced()
        if found is None:
            return self.none(chance)
        wal, low, high = found
        at = chance.randrange(low, high)
        with open(wal, "r+b") as file:
            file.seek(at)
            file.write(bytes(min(BLOCK, high - at)))
        return None

    def _unsynced(self) -> tuple[Path, int, int] | None:
        """The WAL that has grown since the last sync, and from where to where."""
        for wal in sorted(self.folder.rglob("*-wal")):
            known = self.copy / wal.relative_to(self.folder)
            before = known.read_bytes() if known.exists() else b""
            now = wal.read_bytes()
            if len(now) > len(before) and now.startswith(before) and self._same_base(wal):
                return wal, len(before), len(now)
        return None

    def _same_base(self, wal: Path) -> bool:
        """The file that it belongs to has not changed since: then the WAL is all there is to lose."""
        file = wal.with_name(wal.name.removesuffix("-wal"))
        known = self.copy / file.relative_to(self.folder)
        return not known.exists() or known.read_bytes() == file.read_bytes()


LEAVES: dict[str, Callable[[Disk, random.Random], None]] = {
    "all": lambda *_: None,
    "none": Disk.none,
    "cut": Disk.cut,
    "hole": Disk.hole,
}
