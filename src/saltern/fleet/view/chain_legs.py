"""The legs of a chain as text: each action with its result, equal legs grouped under their systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import json

from saltern.fleet.view.details import heading
from saltern.fleet.view.groups import group_systems, summary, without_name
from saltern.fleet.view.outcomes import Outcome
from saltern.fleet.view.words import count
from saltern.report.colours import painter
from saltern.report.text import safe_line

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

CHAIN = "chain.run"
NOTHING = "it has no action"
COLOURS = {"succeeded": "green", "succeeded with skips": "green", NOTHING: "grey"}
COMPARED = ("action", "status", "changed", "comment", "blocked_by")


def chain_legs(outcomes: Sequence[Outcome], options: OutputOptions) -> Iterator[str]:
    """Grouped legs, then the systems without an answer, then the counts."""
    paint = painter(options.colour)
    legs = [(one, one.system) for one in outcomes if is_leg(one.value)]
    for one, systems in group_systems(legs, _comparison_key):
        status = leg_status(one.value)
        title = f"{heading(systems, options.width)} {status}"
        yield paint(title, COLOURS.get(status, "red"))
        yield from (f"  {line}" for line in _steps(one.value))
    others = [one for one in outcomes if not is_leg(one.value)]
    if others:
        yield from list(summary(others, colour=options.colour, width=options.width))[:-1]
    yield paint(_counts(outcomes), "bold")


def is_leg(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("steps"), list) and "chain" in value


def leg_status(value: Any) -> str:
    """The word for a leg; also for a system that has no action."""
    return safe_line(str(value.get("status") or NOTHING))


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value["steps"] if isinstance(row, dict)]


def _comparison_key(one: Outcome, system: str) -> object:
    shown = [[row.get(key) for key in COMPARED] for row in _rows(one.value)]
    text = json.encode([leg_status(one.value), shown], order="deterministic").decode()
    return without_name(text, system)


def _steps(value: Any) -> Iterator[str]:
    for row in _rows(value):
        first = str(row.get("comment", "")).strip().partition("\n")[0]
        blocked = f"blocked by {row['blocked_by']}" if row.get("blocked_by") else ""
        note = blocked if row.get("status") == "not run" and blocked else first
        changed = "changed" if row.get("changed") else ""
        cells = f"{row.get('action', ''):<11} {row.get('kind', ''):<10} {row.get('status', ''):<15}"
        yield safe_line(f"{cells}{changed:<9}{note}".rstrip())


def _counts(outcomes: Sequence[Outcome]) -> str:
    """``4 systems: 1 failed, 3 succeeded``."""
    found = Counter(leg_status(one.value) if is_leg(one.value) else "without a result" for one in outcomes)
    parts = ", ".join(f"{number} {status}" for status, number in sorted(found.items()))
    return f"{count(len(outcomes), 'system')}: {parts}"
