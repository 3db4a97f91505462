"""Writes the changes of one state of a plan briefly: as a diff, as old → new, or as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import json

from saltern.report.colours import Paint, of_diff_line
from saltern.report.text import columns, lines, safe_line

NOTHING: tuple[object, ...] = (None, "", [], {})
SAID = ("new", "New file")  # the sign + shows that already


def new_values(changes: Mapping[str, object], *, name: str, created: bool) -> dict[str, object]:
    """The changes without the content of the title: the name of the state, and that it is new."""
    if list(changes) == [name] and isinstance(changes[name], Mapping) and not _is_pair(changes[name]):
        return new_values(_mapping(changes[name]), name=name, created=created)
    said = (name, *SAID) if created else (name,)
    return {key: value for key, value in changes.items() if value not in said}


class Changes:
    """How to print: how wide, in which colours."""

    def __init__(self, width: int, paint: Paint) -> None:
        self._width, self._paint = width, paint

    def lines(self, changes: Mapping[str, object], indent: int) -> Iterator[str]:
        for key in sorted(changes):
            value = changes[key]
            if key == "diff" and isinstance(value, str) and "\n" in value:
                yield from self._diff(value, indent)
            else:
                yield from self._entry(f"{safe_line(key)}:", value, indent)

    def _diff(self, text: str, indent: int) -> Iterator[str]:
        """The lines of a diff; the first two are left out if they name no file."""
        rows = text.removesuffix("\n").split("\n")
        for row in rows if {"---", "+++"} - {row.strip() for row in rows[:2]} else rows[2:]:
            yield from self._text(row, indent, of_diff_line(row))

    def _entry(self, key: str, value: object, indent: int) -> Iterator[str]:
        brief = self._brief(value)
        if brief is not None and self._fits(key, brief, indent):
            words = " ".join(self._paint(safe_line(text), colour) for text, colour in brief)
            yield f"{' ' * indent}{self._paint(key, 'cyan')} {words}"
            return
        yield " " * indent + self._paint(key, "cyan")
        yield from self._long(value, indent + 4)

    def _brief(self, value: object) -> list[tuple[str, str]] | None:
        """The words of a value with their colours, if they fit in one line; None otherwise."""
        if _is_pair(value):
            old, new = (_mapping(value).get(side) for side in ("old", "new"))
            if any(isinstance(one, dict | list) and one for one in (old, new)):
                return None
            return [(_word(old), "red"), ("→", ""), (_word(new), "green")]
        if isinstance(value, dict) and value:
            return None
        if isinstance(value, list):
            return (
                None
                if any(isinstance(one, dict | list) for one in value)
                else [(", ".join(map(str, value)), "green")]
            )
        return [(_word(value), "green")]

    def _fits(self, key: str, brief: list[tuple[str, str]], indent: int) -> bool:
        text = " ".join([key, *(word for word, _ in brief)])
        return "\n" not in text and (not self._width or indent + columns(text) <= self._width)

    def _long(self, value: object, indent: int) -> Iterator[str]:
        if _is_pair(value):
            for side, sign, colour in (("old", "-", "red"), ("new", "+", "green")):
                one = _mapping(value).get(side)
                if one not in NOTHING:
                    for row in _block(one).split("\n"):
                        yield from self._text(f"{sign} {row}", indent, colour)
        elif isinstance(value, dict):
            yield from self.lines(value, indent)
        elif isinstance(value, list):
            for one in value:
                yield from self._entry("-", one, indent)
        else:
            for row in _block(value).split("\n"):
                yield from self._text(row, indent, "green")

    def _text(self, text: str, indent: int, colour: str) -> Iterator[str]:
        for piece in lines(text, indent, self._width):
            yield " " * indent + self._paint(piece.rstrip(), colour) if piece.strip() else ""


def _is_pair(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and set(value) <= {"old", "new"}


def _mapping(value: object) -> Mapping[str, object]:
    assert isinstance(value, Mapping)
    return value


def _word(value: object) -> str:
    return "nothing" if value in NOTHING else str(value)


def _block(value: object) -> str:
    if isinstance(value, dict | list):
        return json.format(json.encode(value), indent=2).decode()
    return str(value).removesuffix("\n")
