"""Directories of tests in memory, where the disk is not what is tested: every run syncs its journal."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = "/dev/shm"
ROOM = 2 << 30  # bytes
ON_DISK = "TESTS_ON_DISK"  # set: nothing lies in memory, and what a test has left can be looked at


def memory_directory(place: str = PLACE) -> str:
    """Where files can be kept in memory, with room for them and as programs; empty: nowhere."""
    if os.environ.get(ON_DISK) or not os.access(place, os.W_OK | os.X_OK):
        return ""
    found = os.statvfs(place)
    return "" if found.f_flag & os.ST_NOEXEC or found.f_bavail * found.f_frsize < ROOM else place


@contextmanager
def memory_path(place: str, name: str) -> Iterator[Path]:
    """A directory for one test."""
    path = tempfile.mkdtemp(prefix=f"saltern-{name[:20]}-", dir=place)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
