"""Converts between lines and characters as editors count them, and offsets in a text.

For an editor, lines end only with LF, CRLF or CR, and characters are counted in units of the agreed encoding:
usually UTF-16, where a character beyond the first plane counts twice.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct

_ENDS = re.compile(r"\r\n|\r|\n")


class Span(Struct, frozen=True):
    """From ``start`` to ``end`` of a text, counted in characters of Python."""

    start: int
    end: int

    def __contains__(self, place: int) -> bool:
        """True also for a cursor right after the last character."""
        return self.start <= place <= self.end


def _utf16(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1


def _utf8(character: str) -> int:
    return len(character.encode(errors="surrogatepass"))


UNITS: dict[str, Callable[[str], int]] = {"utf-16": _utf16, "utf-8": _utf8, "utf-32": len}


class Lines:
    """A text with the offsets of its lines."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._units = UNITS[encoding]
        ends = list(_ENDS.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end; ``number`` counts from 0. Beyond the text it is empty."""
        span = self.span(number)
        return self.text[span.start : span.end]

    def span(self, number: int) -> Span:
        if not 0 <= number < len(self._starts):
            return Span(len(self.text), len(self.text))
        return Span(self._starts[number], self._stops[number])

    def row(self, place: int) -> int:
        """The number of the line, from 0, that has this place of the text."""
        return bisect_right(self._starts, place) - 1

    def offset(self, line: int, character: int) -> int:
        """The offset of an editor's position; one beyond a line is its end, one beyond the text is the
        text's end.
        """
        span = self.span(line)
        text = self.text[span.start : span.end]
        if text.isascii():
            return span.start + min(max(character, 0), len(text))
        counted = 0
        for at, one in enumerate(text):
            if counted >= character:
                return span.start + at
            counted += self._units(one)
        return span.end

    def position(self, place: int) -> tuple[int, int]:
        """Line and character of a place, as an editor counts them."""
        row = self.row(max(min(place, len(self.text)), 0))
        before = self.text[self._starts[row] : place]
        return row, len(before) if before.isascii() else sum(map(self._units, before))


def edit_text(lines: Lines, start: tuple[int, int], end: tuple[int, int], text: str) -> str:
    """The text after a change that an editor sends."""
    first, last = lines.offset(*start), lines.offset(*end)
    return lines.text[: min(first, last)] + text + lines.text[max(first, last) :]
