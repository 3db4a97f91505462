"""The matrix of systems and actions of a run, for a terminal. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saltern.fleet.view.words import count
from saltern.report.colours import painter
from saltern.report.text import columns, cut, safe_line, wrap

Row = Mapping[str, Any]
MARKS = {
    "": " ",
    "not run": "·",
    "waiting": "…",
    "running": "▸",
    "succeeded": "✔",
    "failed": "✘",
    "timed out": "✘",
    "indeterminate": "?",
    "skipped": "↷",
    "cancelled": "⊘",
}
PLAIN = {**MARKS, "not run": ".", "waiting": ":", "running": ">", "succeeded": "+", "failed": "X"} | {
    "timed out": "T", "skipped": "s", "cancelled": "c"
}  # fmt: skip
COLOURS = {
    "succeeded": "green",
    "succeeded with skips": "green",
    "failed": "red",
    "timed out": "red",
    "indeterminate": "red",
    "expired": "red",
    "halted": "red",
    "partial": "red",
    "running": "cyan",
}
OVER = ("succeeded", "succeeded with skips", "failed", "cancelled", "expired", "indeterminate")
ENDS = ("succeeded", "partial", "failed", "cancelled", "expired")
# Statuses that need attention come first, finished ones last.
ORDER = (
    *("failed", "indeterminate", "expired", "paused", "away", "rebooting", "updating", "waiting", "running"),
    *("delivered", "queued", "pending", "cancelled", "succeeded with skips", "succeeded"),
)
RANK = {word: rank for rank, word in enumerate(ORDER)}
WIDEST = 30
STATE = 22  # columns of a status
LONGEST = 3  # lines of what a run waits for, above a matrix


def needs_look(matrix: Row) -> list[tuple[str, str]]:
    """Systems that have failed, are stopped or away, with their states: more is printed about them."""
    last = RANK["away"]
    found = ((row["system"], shown_state(row)) for row in matrix["rows"])
    return [pair for pair in found if RANK.get(pair[1], 0) <= last]


def is_over(run: Row) -> bool:
    return run["status"] in ENDS


def shown_state(leg: Row) -> str:
    """The status of a leg; an open leg whose system is not connected is away."""
    return "away" if leg["away"] and leg["status"] not in OVER else str(leg["status"])


def only_away(matrix: Row) -> list[str]:
    """The systems that a run waits for, if all of them are away and it waits for nothing else."""
    left = [row for row in matrix["rows"] if row["status"] not in OVER]
    return [row["system"] for row in left] if left and all(row["away"] for row in left) else []


def count_statuses(rows: Sequence[Row]) -> str:
    """``4 systems: 1 failed, 3 succeeded``."""
    return f"{count(len(rows), 'system')}: {statuses(rows)}"


def statuses(rows: Sequence[Row]) -> str:
    """``1 failed, 3 succeeded``, those that need attention first."""
    found = Counter(map(shown_state, rows))
    return ", ".join(f"{found[one]} {one}" for one in sorted(found, key=lambda one: RANK.get(one, 0)))


def matrix_lines(
    matrix: Row,
    *,
    width: int = 100,
    height: int = 0,
    colour: bool = False,
    plain: bool = False,
    below: Sequence[str] = (),
) -> list[str]:
    """The run, what it waits for, its actions, one line for each system, the counts, and the lines of
    ``below``. ``height``: the maximum number of lines; systems that have failed or still run are shown first,
    and the rest is counted; ``below`` takes at most half of them.
    """
    below = [piece for line in below for piece in wrap(line, width - 1)]
    below = below[: max(height // 2 - 2, 0)] if height else below
    paint, marks = painter(colour), PLAIN if plain else MARKS
    top = [paint(cut(f"run {matrix['run']}: {matrix['status']}", width - 1), "bold")]
    if matrix.get("why"):
        top += [f"  {line}" for line in list(wrap(safe_line(matrix["why"]), max(width - 3, 20)))[:LONGEST]]
    inset = min(max((columns(safe_line(row["system"])) for row in matrix["rows"]), default=6), WIDEST)
    head, places = _head([safe_line(action) for action in matrix["actions"]], inset, width)
    room = height - len(top) - len(head) - len(below) - 2
    rows = _shown_rows(matrix["rows"], max(room, 1) if height else 0)
    lines = [
        paint(cut(_line(row, inset, places, marks), width - 1), COLOURS.get(row["status"], ""))
        for row in rows
    ]
    if hidden := _hidden_rows(matrix["rows"], rows):
        lines.append(f"{'...' if plain else '…'} and {len(hidden)} more: {statuses(hidden)}")
    return [*top, *head, *lines, count_statuses(matrix["rows"]), *(cut(line, width - 1) for line in below)]


def _head(actions: Sequence[str], inset: int, width: int) -> tuple[list[str], list[int]]:
    """The lines above the cells, and where each cell begins: under the names of the actions, or under their
    numbers if the names are too wide."""
    first = f"{'system':<{max(inset, 6)}}  {'status':<{STATE}}"
    named, places = _laid_out(first, actions)
    if columns(named) < width:
        return [named], places
    numbers = [str(number) for number in range(1, len(actions) + 1)]
    line, places = _laid_out(first, numbers)
    legend = "  " + ", ".join(f"{number} {action}" for number, action in zip(numbers, actions, strict=True))
    return [*wrap(cut(legend, LONGEST * (width - 1)), width - 1), cut(line, width - 1)], places


def _laid_out(first: str, titles: Sequence[str]) -> tuple[str, list[int]]:
    places: list[int] = []
    for title in titles:
        places.append(columns(first))
        first += f"{title} "
    return first.rstrip(), places


def _line(row: Row, inset: int, places: Sequence[int], marks: Mapping[str, str]) -> str:
    name = cut(safe_line(row["system"]), WIDEST)
    text = f"{name}{' ' * (max(inset, 6) - columns(name))}  {shown_state(row):<{STATE}}"
    at = columns(text)
    for place, cell in zip(places, row["cells"], strict=False):
        text += " " * (place - at) + marks.get(cell, "?")
        at = place + 1
    return text.rstrip()


def _shown_rows(rows: Sequence[Row], room: int) -> list[Row]:
    if not room or len(rows) <= room:
        return list(rows)
    first = sorted(rows, key=lambda row: RANK.get(shown_state(row), 0))[: max(room, 1)]
    kept = {row["system"] for row in first}
    return [row for row in rows if row["system"] in kept]


def _hidden_rows(rows: Sequence[Row], shown: Sequence[Row]) -> list[Row]:
    known = {row["system"] for row in shown}
    return [row for row in rows if row["system"] not in known]


def changes(before: Mapping[str, str], matrix: Row) -> Iterator[tuple[str, str]]:
    """Each system whose state has changed, and its new state."""
    for row in matrix["rows"]:
        state = shown_state(row)
        if before.get(row["system"], "pending") != state:
            yield row["system"], state
