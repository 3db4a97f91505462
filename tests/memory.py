"""Directories of tests: in memory where the disk is not what is tested, for every run syncs its journal."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = "/dev/shm"
ROOM = 4 << 30  # bytes
ON_DISK = "TESTS_ON_DISK"  # set: nothing lies in memory, and what a test has left is kept to be looked at
MADE = "TESTS_TEMPORARY"  # the directory that one process of a run of tests has made for all of them
DISK = "TESTS_DISK"  # where temporary files lie otherwise


def memory_directory(place: str = PLACE) -> str:
    """Where files can be kept in memory, with room for them and as programs; empty: nowhere."""
    if os.environ.get(ON_DISK) or not os.access(place, os.W_OK | os.X_OK):
        return ""
    found = os.statvfs(place)
    return "" if found.f_flag & os.ST_NOEXEC or found.f_bavail * found.f_frsize < ROOM else place


def move_temporary_files(place: str) -> str:
    """Put the temporary files of this process, and of all that it starts, below ``place``; return what was
    made, to be removed at the end.

    Sockets lie there, so the name is short; and programs of other users, so all may write to it.
    """
    made = "" if MADE in os.environ else tempfile.mkdtemp(prefix="t-", dir=place)
    if made:
        os.environ[DISK] = tempfile.gettempdir()
        os.chmod(made, 0o1777)
        os.environ[MADE] = os.environ["TMPDIR"] = made
    tempfile.tempdir = os.environ[MADE]
    return made


def disk_directory() -> str:
    """Where temporary files lie on the disk."""
    return os.environ.get(DISK) or tempfile.gettempdir()


@contextmanager
def path_for(test: str, place: str) -> Iterator[Path]:
    """A directory for one test, below ``place``. Not pytest's own, which reads the names of all there are
    before it makes one, and leaves them to the run after the next."""
    name = re.sub(r"\W", "_", test)[
        :22
    ]  # sockets may lie there, and a path of theirs has 107 characters at most
    path = tempfile.mkdtemp(prefix=f"{name}-", dir=place)
    try:
        yield Path(path)
    finally:
        if not os.environ.get(ON_DISK):
            shutil.rmtree(path, ignore_errors=True)
