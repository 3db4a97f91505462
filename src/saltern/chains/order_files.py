"""An order of an operator to a leg that is at work: a file, which its process looks for before every step."""

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
        """Written whole or not at all."""
        atomic.write(self._path(leg, word), reason.encode())

    def reason(self, leg: str, word: str) -> str:
        """The reason that was given; empty if there is no such order."""
        try:
            return read_regular(self._path(leg, word), MOST).decode(errors="replace") or word
        except NotRegular:
            return word  # an order was given, whatever has become of its reason
        except FileNotFoundError:
            return ""

    def note_current(self, leg: str, action: str) -> None:
        """Note which action its process has begun. Only readers need it, so it need not outlast a crash."""
        atomic.write(self._path(leg, CURRENT), action.encode(), durable=False)

    def current(self, leg: str) -> str:
        """The action that its process has begun last; empty if that is not known."""
        found = self.reason(leg, CURRENT)
        return "" if found == CURRENT else found

    def remove(self, leg: str, *words: str) -> None:
        """These orders are carried out, or void."""
        for word in words:
            with suppress(FileNotFoundError):
                os.remove(self._path(leg, word))

    def _path(self, leg: str, word: str) -> str:
        return os.path.join(self._folder, f"{leg}.{word}")
