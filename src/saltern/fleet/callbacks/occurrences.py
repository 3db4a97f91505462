"""Occurrences in a run that subscribers can be notified of, each with a name: ``run.halted``, ``leg.failed``.
Pure.

The names are made from the table of statuses, so that every status has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from saltern.chains.statuses import OVER, Leg, Run
from saltern.fleet.chains.events import Command, Note
from saltern.fleet.chains.model import LegState, RunState
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

GATES = ("open", "approved", "rejected", "expired")
LEGS = (*(one for one in Leg if one in OVER), Leg.PAUSED, Leg.REBOOTING)


def name_of(kind: str, status: str) -> str:
    return f"{kind}.{status.replace(' ', '-')}"


NAMES: tuple[str, ...] = (
    *(name_of("run", one.value) for one in Run if one is not Run.DRAFT),
    "run.corrected",
    *(name_of("leg", one.value) for one in LEGS),
    "leg.away",
    "leg.back",
    "leg.corrected",
    *(name_of("gate", one) for one in GATES),
)
USUAL = ("run.*", "gate.open")


class Occurrence(Struct, frozen=True, kw_only=True):
    """Something that happened. ``data`` is what a receiver gets in addition to run and chain."""

    name: str
    data: dict[str, Any]


def occurrences(before: RunState, after: RunState, commands: Sequence[Command]) -> Iterator[Occurrence]:
    """What happened to a run between two of its states."""
    for name, leg in after.legs.items():
        if leg is not before.legs[name]:
            yield from _leg(before.legs[name], leg)
    if after.status is not before.status:
        counts = Counter(leg.status.value for leg in after.legs.values())
        data = {"status": after.status.value, "before": before.status.value, "why": after.halted}
        yield Occurrence(name=name_of("run", after.status.value), data={**data, "systems": dict(counts)})
    for note in commands:
        if isinstance(note, Note) and note.before != note.after:
            kind = "run" if note.about == after.id else "leg"
            own = {"system": after.legs[note.about].system} if note.about in after.legs else {}
            data = {"status": note.after, "before": note.before, "why": note.why}
            yield Occurrence(name=f"{kind}.corrected", data={**own, **data})


def _leg(before: LegState, after: LegState) -> Iterator[Occurrence]:
    data = {"system": after.system, "status": after.status.value, "before": before.status.value}
    if after.status is not before.status and after.status in LEGS:
        failed = [
            plan.id
            for plan, step in zip(after.plan, after.steps, strict=True)
            if step.status.value in ("failed", "timed out", "indeterminate")
        ]
        why = after.waits_for or next((s.comment for s in after.steps if s.comment and failed), "")
        yield Occurrence(
            name=name_of("leg", after.status.value), data={**data, "actions": failed, "why": why[:500]}
        )
    if after.away is not before.away and not after.is_over:
        yield Occurrence(name="leg.away" if after.away else "leg.back", data={**data, "away": after.away})


def wants(patterns: Sequence[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def check_patterns(patterns: Sequence[str]) -> None:
    """Refuse a pattern that matches no name: its subscriber would never be notified."""
    wrong = [one for one in patterns if not any(fnmatchcase(name, one) for name in NAMES)]
    if wrong:
        what = f"no occurrence of a chain is called {wrong[0]!r}"
        fix = did_you_mean(wrong[0], NAMES) or f"names are {', '.join(NAMES)}, and * in them"
        raise OperationError(Diagnostic(code="subscription-event", what=what, fix=fix))
