"""A secret for a child, in memory only: not in a file, an argument or the environment."""

from __future__ import annotations

import os


def lend(text: str) -> int:
    """A handle to memory with this text. The child reads it by ``path_of``, as long as it is open."""
    handle = os.memfd_create("saltern")
    os.write(handle, text.encode() + b"\n")
    return handle


def path_of(handle: int) -> str:
    """The path at which processes of the same user can read an open handle of this process."""
    return f"/proc/{os.getpid()}/fd/{handle}"
