"""Finds processes that belong together, even if they are no longer in one session."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

ROUNDS = 5  # of searching for processes that were started meanwhile


def kill_tree(variable: str) -> None:
    """Kill processes with ``NAME=value`` in their environment, and all their descendants, except this one."""
    for _ in range(ROUNDS):
        found = _members(variable.encode())
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _members(variable: bytes) -> set[int]:
    parents = {int(name): _parent(name) for name in os.listdir("/proc") if name.isdigit()}
    found = {pid for pid in parents if variable in _environment(pid)}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {os.getpid()}


def _parent(pid: str) -> int:
    """The parent of a process; 0 also if it has ended: a zombie belongs to no tree."""
    fields = _bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 and fields[0] != b"Z" else 0


def _environment(pid: int) -> list[bytes]:
    return _bytes(f"/proc/{pid}/environ").split(b"\0")


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
