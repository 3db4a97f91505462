"""Orders of an operator to a running leg: files that its process checks before every step."""

from __future__ import annotations

import os
from contextlib import suppress

from saltern.system import atomic
from saltern.system.regular import NotRegular, read_regular

CURRENT = "current"
MOST = 1 << 16  # bytes of a reason


class OrderFiles:
    """``cancel`` or ``pause``, one file each, with the reason as its text."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def write(self, leg: str, word: str, reason: str) -> None:
        """Write an order, completely or not at all."""
        atomic.write(self._path(leg, word), reason.encode())

    def reason(self, leg: str, word: str) -> str:
        """The given reason; empty if there is no such order."""
        try:
            return read_regular(self._path(leg, word), MOST).decode(errors="replace") or word
        except NotRegular:
            return word  # there is an order, even if its reason cannot be read
        except FileNotFoundError:
            return ""

    def note_current(self, leg: str, action: str) -> None:
        """Note which action its process has begun. Only readers need this, so it is not synced."""
        atomic.write(self._path(leg, CURRENT), action.encode(), durable=False)

    def current(self, leg: str) -> str:
        """The action that its process has begun last; empty if unknown."""
        found = self.reason(leg, CURRENT)
        return "" if found == CURRENT else found

    def remove(self, leg: str, *words: str) -> None:
        """Remove the orders to a leg after they were carried out or have become void."""
        for word in words:
            with suppress(FileNotFoundError):
                os.remove(self._path(leg, word))

    def _path(self, leg: str, word: str) -> str:
        return os.path.join(self._folder, f"{leg}.{word}")
