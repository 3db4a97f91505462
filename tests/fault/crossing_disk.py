"""A disk that forgets: what a loss of power leaves of the journals that a machine had written."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from saltern.journal.form import HEAD, LOG, frames

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
        log, low, high = found
        ends = [frame.end for frame in frames(log.read_bytes())]
        edges = [low, *(end + by for end in ends for by in (-1, 0, 1, HEAD))]
        bytes_between = [chance.randrange(low, high) for _ in range(4)]
        os.truncate(log, chance.choice([edge for edge in edges if low <= edge < high] + bytes_between))
        return None

    def hole(self, chance: random.Random) -> None:
        """Blocks reach the disk in any order: a later one may be there, and an earlier one not."""
        found = self._unsynced()
        if found is None:
            return self.none(chance)
        log, low, high = found
        at = chance.randrange(low, high)
        with open(log, "r+b") as file:
            file.seek(at)
            file.write(bytes(min(BLOCK, high - at)))
        return None

    def _unsynced(self) -> tuple[Path, int, int] | None:
        """The journal that has grown since the last sync, and from where to where."""
        for log in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            known = self.copy / log.relative_to(self.folder)
            before = known.read_bytes() if known.exists() else b""
            now = log.read_bytes()
            if now.startswith(LOG) and len(now) > len(before) and now.startswith(before):
                return log, len(before), len(now)
        return None


LEAVES: dict[str, Callable[[Disk, random.Random], None]] = {
    "all": lambda *_: None,
    "none": Disk.none,
    "cut": Disk.cut,
    "hole": Disk.hole,
}
