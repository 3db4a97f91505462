"""A disk that loses what was not synced: which files below a directory outlive a loss of power."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class Disk:
    """Remembers the content of each file and the names of each directory as they were when last synced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._sync)

    def _sync(self, file: int) -> None:
        self._fsync(file)
        place = Path(os.readlink(f"/proc/self/fd/{file}"))
        if place.is_dir():
            self._names[place.stat().st_ino] = {one.name: one.lstat().st_ino for one in place.iterdir()}
        else:
            self._contents[place.stat().st_ino] = place.read_bytes()

    def after_loss(self, folder: Path) -> dict[str, bytes]:
        """What is certain to be in a directory when the power is back: synced names, with synced contents."""
        names = self._names.get(folder.stat().st_ino, {})
        return {name: self._contents.get(inode, b"") for name, inode in names.items()}
