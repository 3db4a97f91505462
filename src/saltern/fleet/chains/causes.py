"""Causes: groups of failures that differ only in numbers, paths, hosts and digests. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

# The order matters: an earlier row replaces text that a later one would match within it.
VARIABLE_PARTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.I), "URL"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "ID"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,128}\b", re.I), "DIGEST"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "HOST"),
    (re.compile(r"(?<![\w/.])(?:/[\w.@%+=:,~-]+)+/?"), "PATH"),
    (re.compile(r"\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+){2,}\b", re.I), "HOST"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),
)
LONGEST = 300
SHARED_BY, SHARED_ELSEWHERE = 0.8, 0.2
MOST_SHARED = 2


class Failure(Struct, frozen=True, kw_only=True):
    """One step that failed on one system."""

    system: str
    wave: int
    step: str
    status: str
    comment: str
    at: float | None


class Cause(Struct, kw_only=True):
    """Failures that are the same except for names. ``shown`` is the message of the first of them."""

    step: str
    status: str
    pattern: str
    shown: str
    systems: list[str] = field(default_factory=list)
    waves: list[int] = field(default_factory=list)
    since: float | None = None


def first_line(comment: str) -> str:
    """The line that says what failed: the first that is not empty."""
    return next((line.strip() for line in comment.splitlines() if line.strip()), "")[:LONGEST]


def generalise(text: str, names: Sequence[str] = ()) -> str:
    """The message without what differs between systems; ``names`` are the names of the system itself."""
    for name in names:
        text = text.replace(name, "SYSTEM") if len(name) > 1 else text
    for pattern, word in VARIABLE_PARTS:
        text = pattern.sub(word, text)
    return text


def group_causes(failures: Iterable[Failure]) -> list[Cause]:
    """The causes, those of most systems first."""
    found: dict[tuple[str, str, str], Cause] = {}
    for one in failures:
        line = first_line(one.comment)
        general = generalise(line, (one.system,))
        key = (one.step, one.status, general)
        cause = found.get(key)
        if cause is None:
            cause = found[key] = Cause(step=one.step, status=one.status, pattern=general, shown=line)
        cause.systems.append(one.system)
        if one.wave not in cause.waves:
            cause.waves.append(one.wave)
        if one.at and (cause.since is None or one.at < cause.since):
            cause.since, cause.shown = one.at, line
    return sorted(found.values(), key=lambda one: (-len(one.systems), one.since or 0.0, one.step))


def shared_facts(
    facts: Mapping[str, Mapping[str, frozenset[str]]], failed: frozenset[str], others: frozenset[str]
) -> list[tuple[str, str]]:
    """Facts that nearly all failed systems have, and nearly none of the others. ``facts``: the systems that
    have each fact.
    """
    if len(failed) < 2 or not others:
        return []
    found: list[tuple[float, str, str]] = []
    for name, values in facts.items():
        for value, members in values.items():
            here = len(members & failed) / len(failed)
            there = len(members & others) / len(others) if here >= SHARED_BY else 1.0
            if there <= SHARED_ELSEWHERE:
                found.append((there - here, name, value))
    return [(name, value) for _, name, value in sorted(found)[:MOST_SHARED]]
