"""Writes to a terminal with a bar on its last lines, which new lines and a new bar replace."""

from __future__ import annotations

import os
from typing import TextIO

from saltern.report.text import columns

CLEAR = "\r\x1b[J"  # from the start of the line to the end of the screen


class Screen:
    """Writes to the file descriptor in complete pieces, without a buffer."""

    def __init__(self, out: TextIO) -> None:
        self._descriptor = out.fileno()
        self._encoding = out.encoding or "ascii"
        self._drawn: list[int] = []  # columns of each line of the bar on the screen

    def width(self) -> int:
        try:
            return max(os.get_terminal_size(self._descriptor).columns or 80, 10)
        except OSError:
            return 80

    def height(self) -> int:
        try:
            return max(os.get_terminal_size(self._descriptor).lines or 24, 3)
        except OSError:
            return 24

    def replace_bar(self, text: str, *bar: str) -> bool:
        """Write the text in place of the bar, then the new bar; False if the terminal is gone."""
        erased = self._erase()
        self._drawn = [columns(line) for line in bar]  # first, since Ctrl-C may come after the writing
        return self._write(erased + text + "\r\n".join(bar))

    def _erase(self) -> str:
        """The characters that erase the bar, which a terminal that became narrower has wrapped."""
        if not any(self._drawn):
            return ""
        width = self.width()
        rows = sum(max(drawn - 1, 0) // width + 1 for drawn in self._drawn) - 1
        self._drawn = []
        return (f"\x1b[{rows}A" if rows else "") + CLEAR

    def _write(self, text: str) -> bool:
        data = text.encode(self._encoding, "backslashreplace")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:  # the run continues without it
            return False
        return True
