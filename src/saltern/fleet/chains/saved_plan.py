"""A stored plan: what a chain would do on each system, and what that depends on. Pure.

Its digest is that of its canonical form. When and by whom it was made, and how long it may take, are
not part of it, so that the same plan made twice has the same digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct, json, to_builtins

from saltern.language.diagnostics import Diagnostic, OperationError

SIGNED = b"saltern chain plan 1\n"  # what every signature of a plan begins with
MOST_SHOWN = 20
LONGEST_VALUE = 60
ABSENT = "absent"
Known = Mapping[str, Any]


class PlannedSystem(Struct, frozen=True, kw_only=True):
    """What a system would do, by its own answer. ``sha256`` is that of its leg.

    ``facts`` are those that were read for it: a list with the value that the controller knew, or an empty
    list for a fact that the system does not have.
    """

    sha256: str
    steps: list[dict[str, Any]]
    facts: dict[str, list[Any]]


class SavedPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``follows``: it was made for the newest version, not for a named one. ``pinned``: systems that the
    target matches later take no part. ``unplanned``: systems that could not be planned, and why.
    ``pillars``: a digest of each system's pillar; plans of older versions have none."""

    chain: str
    version: int
    version_sha256: str
    follows: bool
    target: str
    pinned: bool
    inputs: dict[str, Any]
    rollout: dict[str, Any]
    environment: str
    tree: str
    systems: dict[str, PlannedSystem]
    unplanned: dict[str, str]
    pillars: dict[str, str] = {}


class Present(Struct, frozen=True, kw_only=True):
    """What a plan is compared with: the newest version, the files, the systems that the target matches now,
    and the facts and pillars of those that were planned."""

    version: int
    version_sha256: str
    tree: str
    systems: frozenset[str]
    facts: Mapping[str, Known]
    pillars: Mapping[str, str] = {}


class Moved(Struct, frozen=True, kw_only=True):
    """One difference from the time of planning."""

    what: str
    system: str = ""
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        where = f"{self.system}: " if self.system else ""
        change = f" {self.old} → {self.new}" if self.old or self.new else ""
        return f"{where}{self.what}{change}"


def canonical(plan: SavedPlan) -> bytes:
    """The canonical text of a plan."""
    return json.encode(to_builtins(plan), order="sorted")


def digest(plan: SavedPlan) -> str:
    return sha256(canonical(plan)).hexdigest()


def used_facts(names: list[str], known: Known) -> dict[str, list[Any]]:
    """The facts that were read, with the values that the controller knows."""
    return {name: [known[name]] if name in known else [] for name in names}


def facts_digest(plan: SavedPlan) -> str:
    """A digest of all facts that the plan depends on."""
    return sha256(
        json.encode({name: one.facts for name, one in plan.systems.items()}, order="sorted")
    ).hexdigest()


# -- what has moved -----------------------------------------------------------------------------------


def find_moves(plan: SavedPlan, now: Present) -> list[Moved]:
    """All differences from the time of planning; each one invalidates the plan."""
    found = (_version, _files, _systems, _facts, _pillars)
    return [one for look in found for one in look(plan, now)]


def _version(plan: SavedPlan, now: Present) -> Iterator[Moved]:
    if plan.follows and (plan.version, plan.version_sha256) != (now.version, now.version_sha256):
        yield Moved(what=f"version of chain {plan.chain!r}", old=str(plan.version), new=str(now.version))


def _files(plan: SavedPlan, now: Present) -> Iterator[Moved]:
    if plan.tree != now.tree:
        old, new = plan.tree[:12] or "none", now.tree[:12] or "none"
        yield Moved(what=f"files of {plan.environment!r}", old=old, new=new)


def _systems(plan: SavedPlan, now: Present) -> Iterator[Moved]:
    """Differences of the systems. Unplanned ones are known; a pinned target ignores new ones."""
    known = {*plan.systems, *plan.unplanned}
    for system in sorted(set(plan.systems) - now.systems):
        yield Moved(system=system, what=f"{plan.target!r} no longer matches it")
    if not plan.pinned:
        for system in sorted(now.systems - known):
            yield Moved(system=system, what=f"{plan.target!r} matches it now, but it is not planned")


def _facts(plan: SavedPlan, now: Present) -> Iterator[Moved]:
    for system in sorted(set(plan.systems) & now.systems):
        known = now.facts.get(system, {})
        for name, old in sorted(plan.systems[system].facts.items()):
            new = [known[name]] if name in known else []
            if old != new:
                yield Moved(system=system, what=f"fact {name}", old=_shown_value(old), new=_shown_value(new))


def _pillars(plan: SavedPlan, now: Present) -> Iterator[Moved]:
    """Differences of the pillars, without values: a pillar may hold secrets."""
    for system in sorted(set(plan.systems) & now.systems & set(plan.pillars)):
        if plan.pillars[system] != now.pillars.get(system):
            yield Moved(system=system, what="its pillar has changed")


def _shown_value(value: list[Any]) -> str:
    if not value:
        return ABSENT
    text = json.encode(value[0], order="sorted").decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def refuse_moved(name: str, found: list[Moved]) -> OperationError:
    """The problem of an outdated plan, with all differences."""
    left = len(found) - MOST_SHOWN
    shown = [str(one) for one in found[:MOST_SHOWN]] + ([f"and {left} more"] if left > 0 else [])
    what = f"the plan {name[:12]} was not run, because what it depends on has changed"
    fix = f"`saltern chain run --plan {name[:12]} --replan` makes a new one and shows it"
    return OperationError(
        *(Diagnostic(code="chain-plan-moved", what=line, fix=fix) for line in (what, *shown))
    )
