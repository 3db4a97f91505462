"""Estimates the width of a text, and cuts it to fit; the reader's fonts are unknown."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[]{}/\\ ·-"), frozenset("mwMW@%—…")
NARROW_EM, USUAL_EM, WIDE_EM = 0.39, 0.62, 0.95  # for DejaVu Sans, one of the widest fonts


def extent(text: str, size: float, *, bold: bool = False) -> float:
    """The width in pixels, at a font size in pixels."""
    return sum(map(_em, text)) * size * (1.08 if bold else 1.0)


def _em(letter: str) -> float:
    if letter in NARROW:
        return NARROW_EM
    if letter in WIDE or east_asian_width(letter) in "WF":
        return WIDE_EM
    return 0.0 if combining(letter) else USUAL_EM


def cut(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Cut a text to one line. Both ends are kept, since they distinguish long names."""
    text = " ".join(text.split())
    if extent(text, size, bold=bold) <= room:
        return text
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = extent(_ends(text, middle), size, bold=bold) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _ends(text, low)


def _ends(text: str, letters: int) -> str:
    tail = letters // 2
    return f"{text[: letters - tail]}…{text[len(text) - tail :]}"
