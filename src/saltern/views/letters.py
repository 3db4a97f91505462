"""How wide a text will be, and as much of it as fits: a guess for readers whose fonts are unknown."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[]{}/\\ ·-"), frozenset("mwMW@%—…")
NARROW_EM, USUAL_EM, WIDE_EM = 0.39, 0.62, 0.95  # of DejaVu Sans, one of the widest


def extent(text: str, size: float, *, bold: bool = False) -> float:
    """In pixels, at a size of so many."""
    return sum(map(_em, text)) * size * (1.08 if bold else 1.0)


def _em(letter: str) -> float:
    if letter in NARROW:
        return NARROW_EM
    if letter in WIDE or east_asian_width(letter) in "WF":
        return WIDE_EM
    return 0.0 if combining(letter) else USUAL_EM


def cut(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """One line; long names are distinguished by both of their ends."""
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
