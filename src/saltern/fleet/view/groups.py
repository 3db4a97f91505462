"""The summary of a job as text: equal outcomes are printed once, with their systems.

Two systems had the same outcome if their reports are equal except for their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct, json

from saltern.fleet.view.outcomes import ASCENDING, ITSELF, Failure, Outcome
from saltern.fleet.view.words import count, names
from saltern.report.colours import Paint, painter
from saltern.report.text import lines, safe_line

T = TypeVar("T")
STATES_NAMED = 5
VERBS = {"changed": "changed", "would change": "would change", "clean": "unchanged", "value": "answered"}
COLOURS = {"changed": "cyan", "would change": "bright yellow", "clean": "green", "value": "green"}


class Group(Struct, frozen=True):
    """An outcome, and the systems that had it."""

    one: Outcome
    systems: tuple[str, ...]


def without_name(text: str, system: str) -> str:
    """The text without the name of the system, where that occurs as a word."""
    if not system or system not in text:
        return text
    import re

    return re.sub(rf"(?<![\w-]){re.escape(system)}(?![\w-])", ITSELF, text)


def group_systems(
    items: Iterable[tuple[T, str]], key: Callable[[T, str], object]
) -> list[tuple[T, tuple[str, ...]]]:
    """Items of systems with equal keys, as the first of them and all the systems; the largest group first."""
    found: dict[object, tuple[T, list[str]]] = {}
    for item, system in items:
        _, systems = found.setdefault(key(item, system), (item, []))
        if system not in systems:
            systems.append(system)
    ordered = sorted(found.values(), key=lambda group: (-len(group[1]), group[1]))
    return [(item, tuple(systems)) for item, systems in ordered]


def failures(outcomes: Sequence[Outcome]) -> list[tuple[Failure, tuple[str, ...]]]:
    """Every distinct failure with the systems that had it."""
    pairs = [(failure, one.system) for one in outcomes if one.kind == "failed" for failure in one.failures]
    return group_systems(pairs, lambda failure, system: _plain(failure, system))


def _plain(failure: Failure, system: str) -> tuple[str, ...]:
    """A failure without its location, which differs between systems."""
    return tuple(without_name(text, system) for text in (failure.id, failure.function, failure.why))


def groups(outcomes: Sequence[Outcome], *kinds: str) -> list[Group]:
    """Outcomes of these kinds, with equal ones grouped."""
    pairs = [(one, one.system) for one in outcomes if one.kind in kinds]
    return [Group(one, systems) for one, systems in group_systems(pairs, same)]


def same(one: Outcome, system: str) -> object:
    """The key for grouping: the states that changed, the reason, the value."""
    changed = tuple(without_name(text, system) for text in one.changed)
    value = one.value if one.kind == "value" else None
    total = one.total if one.kind == "clean" else 0
    return (
        one.kind,
        changed,
        without_name(one.why, system),
        total,
        json.encode(value, order="deterministic"),
    )


def summary(outcomes: Sequence[Outcome], *, colour: bool = False, width: int = 0) -> Iterator[str]:
    """The grouped summary: what went wrong first, then what changed, then the rest, then the counts."""
    paint = painter(colour)
    for failure, systems in failures(outcomes):
        yield from _failure_lines(failure, systems, paint, width)
    for group in groups(outcomes, "problem", "nothing"):
        for text, inset in _problem(group):
            yield from _wrap(text, "red", paint, width, inset)
    for kind in ("changed", "would change", "clean"):
        for group in groups(outcomes, kind):
            yield from _wrap(_states(group), COLOURS[kind], paint, width)
    yield from _wrap(counts(outcomes), "bold", paint, width)


def _wrap(text: str, colour: str, paint: Paint, width: int, indent: int = 0) -> Iterator[str]:
    for number, line in enumerate(lines(text, indent + 2, width)):
        yield " " * (indent if not number else indent + 2) + paint(line, colour)


def _failure_lines(failure: Failure, systems: Sequence[str], paint: Paint, width: int) -> Iterator[str]:
    """``2 failed: 'nginx' (service.running) – unit not found (web7, web9)``, and under it the place."""
    why = f" – {_of_all(failure.why, systems)}" if failure.why else ""
    more = f" and {failure.more} more" if failure.more else ""
    id_ = _of_all(failure.id, systems)
    text = f"{len(systems)} failed: {id_!r} ({failure.function}){more}{why} ({names(systems)})"
    yield from _wrap(text, "red", paint, width)
    if failure.where:
        yield f"    {paint(safe_line(failure.where), 'grey')}"


def _of_all(text: str, systems: Sequence[str]) -> str:
    """A text of one system that holds for several: with ``{id}`` in place of its name."""
    return without_name(text, systems[0]).replace(ITSELF, "{id}") if len(systems) > 1 else text


def _problem(group: Group) -> Iterator[tuple[str, int]]:
    """``2 refused: why (web7, web9)``; a reason of several lines follows below."""
    why = _of_all(group.one.why.strip(), group.systems)
    word = "" if group.one.kind == "nothing" else "failed: "
    first, *rest = why.split("\n")
    yield f"{len(group.systems)} {word}{first} ({names(group.systems)})", 0
    yield from ((line, 4) for line in rest)


def _states(group: Group) -> str:
    """``41 changed the same 3 states: a, b, c (web1, web2 and 39 more)``."""
    one, number = group.one, len(group.systems)
    if not one.changed:
        why = f": {safe_line(_of_all(one.why, group.systems))}" if one.why else ""
        return f"{number} {VERBS[one.kind]}{why} ({names(group.systems)})"
    shown = ", ".join(safe_line(_of_all(id_, group.systems)) for id_ in one.changed[:STATES_NAMED])
    more = f" and {len(one.changed) - STATES_NAMED} more" if len(one.changed) > STATES_NAMED else ""
    states = count(len(one.changed), "state")
    same_ = f"the same {states.removeprefix('1 ')}" if number > 1 else states
    what = f"{same_}: {shown}{more}"
    return f"{number} {VERBS[one.kind]} {what} ({names(group.systems)})"


def counts(outcomes: Sequence[Outcome]) -> str:
    """``43 systems: 2 failed, 41 changed``."""
    words = {"problem": "failed", "nothing": "without an answer", **VERBS}
    numbers: dict[str, int] = {}
    for kind in reversed(ASCENDING):
        word = words.get(kind, kind)
        numbers[word] = numbers.get(word, 0) + sum(one.kind == kind for one in outcomes)
    parts = [f"{number} {word}" for word, number in numbers.items() if number]
    return f"{count(len(outcomes), 'system')}: {', '.join(parts)}" if parts else "no systems"
