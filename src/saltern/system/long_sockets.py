"""UNIX sockets at paths of any length: the kernel accepts at most 107 bytes, and home directories may be
longer.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 107


def bind(line: socket.socket, path: str) -> None:
    """Bind a socket to a path."""
    _with_short(path, line.bind)


def connect(line: socket.socket, path: str) -> None:
    """Connect a socket to the one at a path."""
    _with_short(path, line.connect)


def _with_short(path: str, use: Callable[[str], None]) -> None:
    if len(os.fsencode(path)) <= MOST:
        return use(path)
    with _short(path) as short:
        return use(short)


@contextmanager
def _short(path: str) -> Iterator[str]:
    """A shorter name for the same path, through a handle of its directory."""
    directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    finally:
        os.close(directory)
