"""The numbers of a controller's orders about a leg: the highest one counts, in whatever order they arrive.

There is one file for each leg, by its token, so that orders are known even if the leg never began: a leg that
was cancelled before its plan arrived is not run when it does. Another file records how the leg ended, for
longer than its journal is kept: an order that is repeated after that gets a reply, and nothing is run again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from hashlib import sha256
from typing import Any

from msgspec import DecodeError, Struct, json

from saltern.system import atomic
from saltern.system.private import make_private

KEPT = 1000  # legs whose numbers and ends are kept
LOCK, END = ".lock", ".end"


class Known(Struct, frozen=True):
    """The highest order: its number and its verb."""

    number: int = 0
    verb: str = ""


class OrderNumbers:
    """The orders about one leg."""

    def __init__(self, folder: str, token: str) -> None:
        self._folder = os.path.join(folder, "ordered")
        self._path = os.path.join(self._folder, sha256(token.encode()).hexdigest()[:32])

    @contextmanager
    def take(self, number: int, verb: str) -> Iterator[bool]:
        """Take an order; False if a higher one is known. Until the block ends, no other order is taken."""
        make_private(self._folder)
        lock = os.open(f"{self._path}{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            flock(lock, LOCK_EX)
            counts = number >= self.read().number
            if counts:
                atomic.write(self._path, json.encode(Known(number, verb)))
            yield counts
        finally:
            os.close(lock)

    def read(self) -> Known:
        try:
            with open(self._path, "rb") as file:
                return json.decode(file.read(), type=Known)
        except (FileNotFoundError, DecodeError):
            return Known()

    def note_end(self, report: dict[str, Any]) -> None:
        """Record how the leg ended."""
        atomic.write(f"{self._path}{END}", json.encode(report))

    def end(self) -> dict[str, Any] | None:
        """How the leg ended; None if no end is recorded."""
        try:
            with open(f"{self._path}{END}", "rb") as file:
                return json.decode(file.read(), type=dict[str, Any])
        except (FileNotFoundError, DecodeError):
            return None

    def prune(self) -> None:
        """Remove the oldest files beyond the number to keep."""
        names = [name for name in os.listdir(self._folder) if not name.endswith((LOCK, END))]
        paths = sorted((os.path.join(self._folder, name) for name in names), key=os.path.getmtime)
        for path in paths[:-KEPT]:
            for one in (path, f"{path}{LOCK}", f"{path}{END}"):
                if os.path.exists(one):
                    os.remove(one)
