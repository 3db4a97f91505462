"""Choose the copies to keep: the newest ones, and the first of each hour, day, week, month or year."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.refused import Refused

ALL = "all"


class Copy(Struct, frozen=True, order=True):
    """A name, and when it was made."""

    made: datetime
    name: str


class Rule(Struct, frozen=True):
    """The time that copies are grouped by, and how many extra groups are kept."""

    period: Callable[[Copy], object]
    more: int = 0


RULES: Mapping[str, Rule] = {
    "most_recent": Rule(lambda one: (one.made, one.name)),
    "first_of_hour": Rule(lambda one: (one.made.date(), one.made.hour)),
    "first_of_day": Rule(lambda one: one.made.date()),
    "first_of_week": Rule(lambda one: one.made.isocalendar()[:2], more=1),  # as in Salt
    "first_of_month": Rule(lambda one: (one.made.year, one.made.month)),
    "first_of_year": Rule(lambda one: one.made.year),
}


def wanted_counts(retain: Mapping[str, object]) -> dict[str, int | None]:
    """How many each rule keeps; None: all."""
    return {name: _count(name, value) for name, value in retain.items()}


def _count(name: str, value: object) -> int | None:
    if name not in RULES:
        hint = did_you_mean(name, RULES) or f"use one of {', '.join(RULES)}"
        raise Refused(f"retain: no rule is called {name!r}; {hint}")
    if value == ALL:
        return None
    if isinstance(value, bool) or not str(value).isdecimal():
        raise Refused(f"retain: {name} needs a number or {ALL!r}, got {value!r}")
    return int(str(value))


def kept_names(copies: Iterable[Copy], counts: Mapping[str, int | None]) -> set[str]:
    """The names that one of the rules keeps."""
    ordered = sorted(copies)
    return {one.name for name, count in counts.items() for one in _of_rule(ordered, RULES[name], count)}


def _of_rule(ordered: list[Copy], rule: Rule, count: int | None) -> list[Copy]:
    firsts: dict[object, Copy] = {}
    for one in ordered:
        firsts.setdefault(rule.period(one), one)
    found = list(firsts.values())
    if count is None:
        return found
    most = count + rule.more
    return found[-most:] if most else []
