"""An order of an operator to a leg that is at work: a file, which its process looks for before every step."""

from __future__ import annotations

import os
from contextlib import suppress

from saltern.system import atomic


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
            with open(self._path(leg, word), encoding="utf-8", errors="replace") as file:
                return file.read() or word
        except FileNotFoundError:
            return ""

    def remove(self, leg: str, *words: str) -> None:
        """These orders are carried out, or void."""
        for word in words:
            with suppress(FileNotFoundError):
                os.remove(self._path(leg, word))

    def _path(self, leg: str, word: str) -> str:
        return os.path.join(self._folder, f"{leg}.{word}")
