"""Writes a plan for approval: the action of each state with its diff, and the totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from saltern.report.colours import Paint, painter
from saltern.report.forecast import CREATE, FAIL, KEEP, LATER, VERBS, Foreseen, count_kinds
from saltern.report.plan_changes import Changes, new_values
from saltern.report.text import columns, emit, lines, safe_line

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

COMMENTED = frozenset({LATER, FAIL})  # only the comment has the reason


def write(rows: Sequence[Foreseen], out: TextIO, options: OutputOptions) -> None:
    emit(out, "\n".join([*_lines(rows, options), ""]))


def _lines(rows: Sequence[Foreseen], options: OutputOptions) -> Iterator[str]:
    paint = painter(options.colour)
    changes = Changes(options.width, paint)
    shown = [row for row in rows if row.kind != KEEP or row.warnings]
    for row in shown:
        yield from _row(row, paint, changes, options.width)
        yield ""
    totals = count_kinds(rows)
    moving = any(totals[kind] for kind in totals if kind != KEEP)
    if not moving:
        yield paint(f"Nothing to do: {_number(totals[KEEP], 'state')} as described.", "green")
        return
    yield "Plan: " + ", ".join(_total(kind, number, paint) for kind, number in totals.items() if number) + "."
    if totals[LATER]:
        yield paint("States marked ? are known only after apply, and are not part of the approval.", "cyan")


def _row(row: Foreseen, paint: Paint, changes: Changes, width: int) -> Iterator[str]:
    verb, margin = VERBS[row.kind], "  " * row.depth
    named = "" if row.name == row.id else f"  {safe_line(row.name)}"
    title = f"{verb.sign} {safe_line(row.function)}  {safe_line(row.id)}{named}"
    place = "" if row.sub else safe_line(row.where)
    broken = width and len(margin) + columns(title) + 2 + columns(place) > width
    yield margin + paint(title, verb.colour) + ("" if broken or not place else paint(f"  {place}", "grey"))
    if place and broken:
        yield f"{margin}    {paint(place, 'grey')}"
    if row.comment and (row.kind in COMMENTED or not row.changes):
        for line in lines(row.comment.strip("\n"), len(margin) + 4, width):
            yield f"{margin}    {line}".rstrip()
    for warning in row.warnings:
        for line in lines(f"warning: {warning}", len(margin) + 4, width):
            yield f"{margin}    {paint(line, 'bright red')}"
    new = new_values(row.changes, name=row.name, created=row.kind == CREATE)
    yield from changes.lines(new, len(margin) + 4)


def _total(kind: str, number: int, paint: Paint) -> str:
    verb = VERBS[kind]
    return paint(f"{number} {verb.one if number == 1 else verb.total}", verb.colour)


def _number(count: int, thing: str) -> str:
    return f"{count} {thing} is" if count == 1 else f"{count} {thing}s are"
