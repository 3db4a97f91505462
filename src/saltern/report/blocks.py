"""Writes one answer as a full block or as one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from saltern.language.events import Answer
from saltern.language.result import Outcome, Result
from saltern.report.colours import Paint, kind_of, of_result, painter
from saltern.report.nested import DASHES, Nested
from saltern.report.salt import time_of_day
from saltern.report.text import lines, safe_line, wrap

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

INDENT = 14  # labels end at column 12, their values begin here
TABULAR = "{0:>15} {1:>14} {2:<25} {3:<7} {4}"


class Blocks:
    """Writes answers as the options require. Text from modules and files is made safe for a terminal."""

    def __init__(self, options: OutputOptions) -> None:
        self._options = options
        self._paint: Paint = painter(options.colour)
        self._nested = Nested(options.width, self._paint)
        self._clock: Callable[[float], str] = time_of_day()
        self._by_id = "_id" in options.state_output

    def full(self, answer: Answer, note: str = "") -> Iterator[str]:
        """The block with its labels; ``note`` is printed below it."""
        result, colour = answer.result, of_result(answer.result)
        yield self._paint(DASHES, colour)
        for label, value in self._rows(answer):
            yield from self._row(label, value, colour)
        yield from self._nested_row("Changes", result.changes, colour)
        if self._options.expand and result.data:
            yield from self._nested_row("Data", result.data, colour)
        if result.warnings:
            yield from self._row("Warnings", "\n".join(result.warnings), "bright red")
        if self._options.traces and result.trace:
            yield from self._row("Traceback", result.trace, colour)
        if note:
            yield from self._indent(note, 4, colour)  # indented less, so that it does not look like a change

    def terse(self, answer: Answer, note: str = "") -> Iterator[str]:
        """A line for each warning, then one line for the answer."""
        for warning in answer.result.warnings:
            yield from self._indent(f"Warning: {warning}", 2, "bright red")
        colour = of_result(answer.result)
        tabular = self._options.state_tabular
        line = self._tabular(answer) if tabular else self._dash_line(answer)
        room = self._options.width and max(self._options.width - 4, 8)
        for number, piece in enumerate(wrap(line, room)):
            yield self._paint(f"    {piece}" if number else piece, colour)
        if note:
            yield from self._indent(note, 4, colour)

    def _rows(self, answer: Answer) -> Iterator[tuple[str, str]]:
        chunk, result = answer.chunk, answer.result
        yield "ID", chunk.id
        yield "Function", chunk.function
        if chunk.name != chunk.id:
            yield "Name", chunk.name
        yield "Result", str(result.outcome.value)
        yield "Comment", result.comment.strip("\n")
        if result.outcome is Outcome.FAILED and (where := place(answer)):
            yield "Where", where
        if self._options.state_output_profile:
            yield from self._times(answer)

    def _times(self, answer: Answer) -> Iterator[tuple[str, str]]:
        """Start and duration, as far as they are known: an engine may report only one of them for a step."""
        if answer.has_start:
            yield "Started", self._clock(answer.started)
        if answer.timed:
            yield "Duration", f"{milliseconds(answer)} ms"

    def _row(self, label: str, value: str, colour: str) -> Iterator[str]:
        head = f"{label:>12}: "
        for line in lines(value, INDENT, self._options.width):
            yield self._paint((head + line).rstrip(), colour)
            head = " " * INDENT

    def _nested_row(self, label: str, value: dict[str, object], colour: str) -> Iterator[str]:
        yield self._paint(f"{label:>12}:", colour)
        if value:
            yield from self._nested.lines(value, INDENT)

    def _indent(self, text: str, indent: int, colour: str) -> Iterator[str]:
        for line in lines(text, indent, self._options.width):
            yield self._paint(" " * indent + line, colour)

    def _title(self, answer: Answer) -> str:
        return safe_line(answer.chunk.id if self._by_id else answer.chunk.name)

    def _dash_line(self, answer: Answer) -> str:
        parts = [
            f" Name: {self._title(answer)}",
            f"Function: {safe_line(answer.chunk.function)}",
            f"Result: {word(answer.result)}",
        ]
        if self._options.state_output_profile:
            parts += [f"{label}: {value}" for label, value in self._times(answer)]
        return " - ".join(parts)

    def _tabular(self, answer: Answer) -> str:
        chosen = self._options.state_tabular
        cells = self._cells(answer)
        try:
            return (chosen if isinstance(chosen, str) else TABULAR).format(*cells)
        except (IndexError, KeyError, ValueError, AttributeError):  # the user's format is invalid
            return TABULAR.format(*cells)

    def _cells(self, answer: Answer) -> tuple[str, str, str, str, str]:
        times = dict(self._times(answer)) if self._options.state_output_profile else {}
        return (
            times.get("Started", ""),
            times.get("Duration", ""),
            safe_line(answer.chunk.function),
            word(answer.result),
            self._title(answer),
        )


def word(result: Result) -> str:
    """Salt's word for the outcome."""
    return kind_of(result).capitalize()


def milliseconds(answer: Answer) -> float:
    return round(answer.took * 1000, 3)


def place(answer: Answer) -> str:
    """Where the state is declared, as ``web/init.sls:14``; empty if that is not known."""
    mark = answer.chunk.mark()
    return safe_line(f"{mark.file}:{mark.line}" if mark.line else mark.file)
