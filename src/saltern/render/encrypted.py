"""Shared by renderers of encrypted values: data and texts with decrypted parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from saltern.language import secrets
from saltern.render.document import LineMap, Rendered


def changed_values(value: object, change: Callable[[str], object]) -> object:
    """A copy of the data with every text changed; the original may be kept elsewhere."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        copy = value.copy()
        copy.update((key, changed_values(inner, change)) for key, inner in value.items())
        return copy
    return [changed_values(inner, change) for inner in value] if isinstance(value, list) else value


def text_or_bytes(data: bytes) -> str | bytes:
    """What was decrypted: bytes if it is not text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def changed_text(made: Rendered, parts: re.Pattern[str], found: Mapping[str, str]) -> Rendered:
    """The text with its decrypted parts. All lines of a part map to the line where it began."""
    if not found:
        return made
    pieces: list[str] = []
    origins: list[int] = []  # for each line of the new text, the line in the old text
    line, end = 1, 0
    for match in parts.finditer(made.text):
        between, new = made.text[end : match.start()], found.get(match[0], match[0])
        origins += range(line, line + between.count("\n"))
        line += between.count("\n")
        origins += [line] * new.count("\n")
        line += match[0].count("\n")
        pieces += (between, new)
        end = match.end()
    origins += range(line, line + made.text.count("\n", end) + 1)
    text = "".join((*pieces, made.text[end:]))
    return Rendered(text, _through(origins, made.lines), (*made.secrets, *found.values()))


def _through(origins: list[int], lines: LineMap | None) -> LineMap:
    def whole() -> list[int]:
        if lines is None:
            return origins
        before = lines()
        return [before[min(line, len(before)) - 1] if before else 0 for line in origins]

    return whole


def keep_secret(data: object, parts: tuple[str, ...]) -> None:
    """Mark every value that was read in a decrypted text as secret, except small numbers."""
    secrets.add(
        [text for text in secrets.leaves(data) if _counts(text) and any(text in part for part in parts)]
    )


def _counts(text: str) -> bool:
    return len(text) >= secrets.SHORTEST or not text.isdigit()


def line_of(text: str, source: str) -> int:
    """The line of the file with the beginning of a text, or the entry of this name; 0 if there is none."""
    first = text.strip().partition("\n")[0]
    at = source.find(first) if first else -1
    return source.count("\n", 0, at) + 1 if at >= 0 else 0
