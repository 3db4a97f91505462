"""A lock that can be inspected without taking it, so that an inspection blocks no run.

Two kinds of locks are taken. Both belong to the open file, and so are inherited by a fork. The first,
``flock``, is the one that older versions take; only the second can be inspected.
"""

from __future__ import annotations

import fcntl
import sys

KIND, REST = 2, 30  # struct flock on 64 bits: the kind; then whence, start, length and process, all 0


def take(file: int) -> None:
    """Take the lock. Raises ``BlockingIOError`` if another process has it."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, _asked_for())


def is_held(file: int) -> bool:
    """True if another open file holds the lock."""
    found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _asked_for())
    return int.from_bytes(found[:KIND], sys.byteorder) != fcntl.F_UNLCK


def _asked_for() -> bytes:
    """A lock of the whole file, for writing. Importing ``struct`` would load two more modules at the start of
    every run.
    """
    return fcntl.F_WRLCK.to_bytes(KIND, sys.byteorder) + bytes(REST)
