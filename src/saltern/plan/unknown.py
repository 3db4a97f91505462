"""A requisite that names nothing of the run: what is said of it, by the compiler and by the plan."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.patterns import is_pattern
from saltern.language.source import Mark
from saltern.plan.matcher import Matcher, describe_requisite


class Unknown(Struct, frozen=True):
    """What is wrong, where, what to do about it, and ``there``: where else the name is known."""

    what: str
    where: Mark
    fix: str
    there: str


def unknown_target(
    chunk: Chunk,
    wanted: Requisite,
    matcher: Matcher,
    found: Diagnostics,
    elsewhere: Callable[[str], str] | None,
) -> Unknown | None:
    """What to report; None for a pattern, which gets a warning. Of a hidden state, not what it names."""
    named = "a state" if chunk.hidden else describe_requisite(wanted)
    what = f"{wanted.kind!r} of {chunk.label!r} names {named}, which no SLS of this run declares"
    where = chunk.mark(wanted.kind, wanted.at)
    if is_pattern(wanted.value):
        found.warn("requisite-matches-nothing", what, where=where)
        return None
    there = elsewhere(wanted.value) if elsewhere else ""
    fix = "" if chunk.hidden else there or matcher.suggestion(wanted)
    return Unknown(what, where, fix, there)
