"""The nested format: any data, one value per line, indented by depth.

A mapping is a dashed line and its sorted keys, each value four further in; an item of a list is ``- x``; a
container in a list is below ``|_``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TextIO

from saltern.language.events import Report
from saltern.report.colours import Paint, of_diff_line, painter
from saltern.report.plain import plain
from saltern.report.text import emit, lines, safe_line

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

DASHES = "-" * 10


class Nested:
    """How to print: where it starts, how wide, in which colours."""

    def __init__(self, width: int = 0, paint: Paint | None = None) -> None:
        self._width = width
        self._paint = paint or painter(False)

    def lines(self, value: object, indent: int = 0) -> Iterator[str]:
        """The lines of a value, with their indentation and colours, without newlines."""
        return self._any(plain(value), indent)

    def _any(self, value: object, indent: int, key: str = "") -> Iterator[str]:
        if isinstance(value, dict):
            yield self._line(DASHES, indent, "cyan")
            yield from self._mapping(value, indent)
        elif isinstance(value, list):
            yield from self._items(value, indent)
        elif isinstance(value, str):
            yield from self._text(value, indent, diff=key == "diff" and "\n" in value)
        else:
            yield self._line(str(value), indent, "yellow")

    def _mapping(self, value: Mapping[str, object], indent: int) -> Iterator[str]:
        for key in sorted(value):
            for line in lines(f"{safe_line(key)}:", indent, self._width):
                yield self._line(line, indent, "cyan")
            yield from self._any(value[key], indent + 4, key)

    def _items(self, value: list[object], indent: int) -> Iterator[str]:
        for item in value:
            if isinstance(item, dict | list):
                yield self._line("|_", indent, "cyan")
                yield from self._any(item, indent + 2)
                continue
            colour = "green" if isinstance(item, str) else "yellow"
            for number, line in enumerate(lines(str(item), indent + 2, self._width)):
                yield self._line(f"  {line}" if number else f"- {line}", indent, colour)

    def _text(self, value: str, indent: int, diff: bool) -> Iterator[str]:
        if not value:
            return
        for line in value.removesuffix("\n").split("\n"):
            colour = of_diff_line(line) if diff else "green"
            for piece in lines(line, indent, self._width):
                yield self._line(piece, indent, colour)

    def _line(self, text: str, indent: int, colour: str) -> str:
        text = text.rstrip()
        return " " * indent + self._paint(text, colour) if text else ""


def write_data(value: object, out: TextIO, options: OutputOptions) -> None:
    """Write the label, and the value below it."""
    paint = painter(options.colour)
    printer = Nested(options.width, paint)
    head = [paint(f"{safe_line(options.label)}:", "cyan")] if options.label else []
    body = printer.lines(value, 4 if head else 0)
    emit(out, "\n".join([*head, *body, ""]))


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    """Write the whole dictionary in Salt's form, with every key."""
    from saltern.report.salt import to_dict

    write_data(to_dict(report), out, options)
