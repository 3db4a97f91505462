"""Makes foreign text safe for a terminal, and cuts it to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import re

# C0 without newline, DEL, C1, line separators, direction marks, lone surrogates: characters that a terminal
# may interpret instead of showing, or that cannot be encoded.
_UNSAFE = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
_OBEYED = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_WORDS = r" *[^ ]+"


def safe(text: str) -> str:
    """The text with tabs as spaces and each control character as an escape; newlines stay."""
    if text.isprintable():  # the common case, and cheaper
        return text
    import re

    if not re.search(_UNSAFE, text):
        return text
    return re.sub(_UNSAFE, _escape, text.replace("\r\n", "\n").expandtabs())


def safe_line(text: str) -> str:
    """The same in one line."""
    return safe(text).replace("\n", "\\n")


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def columns(text: str) -> int:
    """The width of the text on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if character < "\u0300":
        return 1
    from unicodedata import combining, east_asian_width

    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, room: int) -> str:
    """The beginning of one line, with ``…`` in place of the rest if it does not fit."""
    if len(text) <= 8 * room and columns(text) <= room:  # a longer one is cut, however narrow its characters
        return text
    used, kept = 1, []
    for character in text:
        used += _width(character)
        if used > room:
            break
        kept.append(character)
    return "".join(kept) + "…" if room > 0 else ""


def wrap(line: str, room: int) -> Iterator[str]:
    """The line in pieces of at most ``room`` columns, broken at spaces; 0 means no limit.

    Spaces at the beginning are kept; a word longer than ``room`` is a piece of its own.
    """
    if room <= 0 or columns(line) <= room:
        yield line
        return
    import re

    piece, used = "", 0
    for word in re.findall(_WORDS, line):
        wide = columns(word)
        if piece and used + wide > room:
            yield piece
            word = word.lstrip(" ")
            piece, used = word, columns(word)
        else:
            piece, used = piece + word, used + wide
    yield piece


def lines(text: str, indent: int, width: int) -> Iterator[str]:
    """Every line of any text, made safe and wrapped to the ``width`` without ``indent``."""
    room = max(width - indent, 8) if width else 0
    for line in safe(text).split("\n"):
        yield from wrap(line.rstrip(), room)


def emit(out: TextIO, text: str) -> None:
    """Write the text, even if the stream's encoding lacks a character."""
    try:
        out.write(text)
    except UnicodeEncodeError:
        encoding = out.encoding or "ascii"
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))


def tame(text: str) -> str:
    """Escape DEL, C1 and direction marks in data, which a terminal may interpret."""
    if text.isascii() and "\x7f" not in text:
        return text
    import re

    return re.sub(_OBEYED, lambda found: f"\\u{ord(found[0]):04x}", text)
