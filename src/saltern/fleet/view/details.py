"""Equal answers grouped: diffs of a plan, values of a function, each under the systems that gave it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import ValidationError, convert, json

from saltern.fleet.view.groups import Group, group_systems, groups, without_name
from saltern.fleet.view.outcomes import ITSELF, Outcome
from saltern.fleet.view.tables import align
from saltern.fleet.view.words import count, names
from saltern.report.colours import painter
from saltern.report.forecast import KEEP, Foreseen
from saltern.report.nested import Nested
from saltern.report.text import safe_line

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

COMPARED = ("kind", "function", "id", "name", "changes", "warnings")


def heading(systems: Sequence[str], width: int = 0) -> str:
    """``web1:``, or ``web1, web2 and 39 more (41 systems):``."""
    if len(systems) == 1:
        return f"{safe_line(systems[0])}:"
    tail = f" ({count(len(systems), 'system')}):"
    return names(systems, max(width - len(tail), 0)) + tail


def values(outcomes: Sequence[Outcome], options: OutputOptions) -> Iterator[str]:
    """Every distinct value of a function, under the systems that returned it."""
    paint = painter(options.colour)
    printer = Nested(options.width, paint)
    for group in sorted(groups(outcomes, "value"), key=lambda group: group.systems[0]):
        yield paint(heading(group.systems, options.width), "cyan")
        yield from printer.lines(group.one.value, 4)


def runs(outcomes: Sequence[Outcome], options: OutputOptions) -> Iterator[str]:
    """The runs of all systems in one table, the newest first."""
    found = [{**row, "system": one.system} for one in outcomes for row in _as_rows(one)]
    newest = sorted(found, key=lambda row: str(row.get("jid")), reverse=True)
    cells = [[str(row.get(name, "")) for _, name in RUNS] for row in newest]
    if cells:
        yield from align([head for head, _ in RUNS], cells, options.width)
    if empty := [one.system for one in outcomes if one.kind == "value" and not _as_rows(one)]:
        yield f"no runs yet: {names(empty)}"


RUNS = (
    ("system", "system"),
    ("run", "jid"),
    ("status", "status"),
    ("states", "done"),
    ("changed", "changed"),
    ("failed", "failed"),
    ("asked for", "asked"),
)


def _as_rows(one: Outcome) -> list[dict[str, Any]]:
    return [row for row in one.value if isinstance(row, dict)] if isinstance(one.value, list) else []


def plans(outcomes: Sequence[Outcome], options: OutputOptions) -> Iterator[str]:
    """Every distinct plan, under its systems. Those with nothing to do appear only in the summary."""
    paint = painter(options.colour)
    for group in plan_groups(outcomes):
        yield paint(heading(group.systems, options.width), "bold")
        if len(group.systems) > 1 and _is_renamed(group.one):
            yield paint(f"    (as it is for {safe_line(group.one.system)})", "grey")
        yield from _plan(group.one, options)
        yield ""


def plan_groups(outcomes: Sequence[Outcome]) -> list[Group]:
    """Plans that would do something, grouped by equal states with equal differences."""
    moving = [(one, one.system) for one in outcomes if one.kind in ("would change", "failed") and _rows(one)]
    return [Group(one, systems) for one, systems in group_systems(moving, _comparison_key)]


def _rows(one: Outcome) -> list[dict[str, Any]]:
    value = one.value
    rows = value.get("states") if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _comparison_key(one: Outcome, system: str) -> object:
    moving = [row for row in _rows(one) if row.get("kind") != KEEP]
    shown = [[row.get(key) for key in COMPARED] for row in moving]
    failing = [row.get("comment") for row in moving if row.get("kind") == "fail"]
    return without_name(json.encode([shown, failing], order="deterministic").decode(), system)


def _is_renamed(one: Outcome) -> bool:
    """True if the plan contains the name of the system, and so differs from the plans of the others."""
    return ITSELF in str(_comparison_key(one, one.system))


def _plan(one: Outcome, options: OutputOptions) -> Iterator[str]:
    from saltern.report.proposal import write

    out = io.StringIO()
    try:
        write(convert(_rows(one), list[Foreseen]), out, options)
    except ValidationError:  # of another version of saltern: its data is shown as data
        yield from Nested(options.width, painter(options.colour)).lines(_rows(one), 4)
        return
    for line in out.getvalue().rstrip("\n").split("\n"):
        yield f"    {line}".rstrip()
