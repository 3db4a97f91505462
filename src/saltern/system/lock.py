"""A lock that can be inspected without taking it, so that an inspection blocks no run.

Both kinds belong to the open file, and so are inherited by a fork. The first, ``flock``, is what versions
before this one take; only the second can be asked about.
"""

from __future__ import annotations

import fcntl
import struct

SHAPE = "hhqqi4x"  # kind, whence, start, length, process: struct flock on 64 bits


def take(file: int) -> None:
    """Raises ``BlockingIOError`` if another process has it."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack(SHAPE, fcntl.F_WRLCK, 0, 0, 0, 0))


def is_held(file: int) -> bool:
    """By another open file than this one."""
    asked = struct.pack(SHAPE, fcntl.F_WRLCK, 0, 0, 0, 0)
    kind = struct.unpack(SHAPE, fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))[0]
    return bool(kind != fcntl.F_UNLCK)
