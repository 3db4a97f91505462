"""Directories with the files of commits: held while a process uses them, and removed when they are old."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from glob import glob

from saltern.sources.git.remote import COMMIT

KEEP = 3  # commits of one repository that no process uses
UNUSED = 7 * 86400.0  # seconds: a run may pause for days, and needs its commit again

_held: dict[str, int] = {}  # directories of commits that this process uses
MOST_HELD = 100  # each is an open file; the others are protected by their age


def hold(place: str) -> None:
    """Keep the files of a commit until this process ends."""
    if place not in _held and len(_held) < MOST_HELD:
        _held[place] = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        with suppress(OSError):
            fcntl.flock(_held[place], fcntl.LOCK_SH | fcntl.LOCK_NB)


def _is_free(place: str) -> bool:
    """True if no process uses the directory."""
    if place in _held:
        return False
    try:
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def remove_old(directory: str) -> None:
    """Remove the files of old commits below a mirror that no process holds, and incomplete directories."""
    with os.scandir(directory) as found:
        commits = [one for one in found if COMMIT.fullmatch(one.name)]
    for one in sorted(commits, key=lambda entry: -entry.stat().st_mtime)[KEEP:]:
        if time.time() - one.stat().st_mtime > UNUSED and _is_free(one.path):
            shutil.rmtree(one.path, ignore_errors=True)
            for left in glob(f"{one.path}.*"):
                shutil.rmtree(left, ignore_errors=True)
