"""Check whether anything that a plan rests on has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from saltern.engine.session import Session
from saltern.journal.chunk_codec import chunks_in
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.planfile.document import Body, Proposal, readable, unpack_body
from saltern.planfile.make import Foresight, content_sum, value_sum
from saltern.report.forecast import VERBS, Foreseen
from saltern.report.plain import plain

MOST_SHOWN = 20

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)


def check(proposal: Proposal, session: Session, now: Foresight, *, path: str) -> None:
    """Raise ``OperationError`` with everything that has changed. ``session`` is the one that planned
    again.
    """
    body = unpack_body(proposal, path, session.settings.extra)
    with readable(path):
        moved = [*_bases(proposal, session), *_states(proposal, body, now)]
    if not moved:
        return
    left = len(moved) - MOST_SHOWN
    shown = [*moved[:MOST_SHOWN], f"and {left} more"] if left > 0 else moved
    raise OperationError(
        Diagnostic(
            code="plan-moved",
            what=f"{path} was not applied: what it rests on has changed",
            detail="\n".join(f"- {line}" for line in shown),
            fix=f"saltern apply {path} --replan makes and shows a new plan",
        )
    )


def _bases(proposal: Proposal, session: Session) -> Iterator[str]:
    kept = proposal.bases
    for path, before in kept.sources.items():
        now = content_sum(path)
        if now != before:
            yield f"the file {path} {'has changed' if now else 'was removed'} since the plan was made"
    for name in _different_names(kept.pillar, session.pillar, kept.salt):
        yield f"the pillar key {name!r} has changed since the plan was made"
    grains = {name: session.grains.get(name) for name in kept.grains}
    for name in _different_names(kept.grains, grains, kept.salt):
        yield f"the grain {name!r} has changed since the plan was made"


def _different_names(before: Mapping[str, str], now: Mapping[str, object], salt: str) -> Iterator[str]:
    for name in sorted({*before, *now}):
        if name not in before or name not in now or value_sum(now[name], salt) != before[name]:
            yield name


def _states(proposal: Proposal, body: Body, now: Foresight) -> Iterator[str]:
    """First what is to be done, as compiled; then what each state says it would do."""
    kept = _number_rows(chunks_in(body.plan, body.sources), lambda chunk: chunk.tag)
    made = _number_rows(now.plan.chunks if now.plan else [], lambda chunk: chunk.tag)
    for tag in [*kept, *(tag for tag in made if tag not in kept)]:
        if (words := _chunk_difference(kept.get(tag), made.get(tag))) is not None:
            yield words
    before, after = _number_rows(proposal.states, _place), _number_rows(now.rows, _place)
    for place in [*before, *(place for place in after if place not in before)]:
        words = _effect_difference(before.get(place), after.get(place))
        if words:
            yield words


def _number_rows(rows: Iterable[R], key: Callable[[R], K]) -> dict[tuple[K, int], R]:
    """By key and number: keys may come twice."""
    found: dict[tuple[K, int], R] = {}
    counts: dict[K, int] = {}
    for row in rows:
        count = counts.get(key(row), 0)
        counts[key(row)] = count + 1
        found[key(row), count] = row
    return found


def _chunk_difference(before: Chunk | None, now: Chunk | None) -> str | None:
    if before is None or now is None:
        one = now or before
        assert one is not None
        how = "is new" if before is None else "is gone"
        return f"{one.function} {one.label!r} ({one.mark()}) {how} since the plan was made"
    old, new = plain(before.low()), plain(now.low())
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    words = sorted(word for word in {*old, *new} if old.get(word) != new.get(word))
    if not words:
        return None
    return f"{now.function} {now.label!r} ({now.mark()}) now has another {' and '.join(words)}"


def _place(row: Foreseen) -> tuple[str, str]:
    return row.path, row.tag


def _effect_difference(before: Foreseen | None, now: Foreseen | None) -> str:
    """The difference in what a state would do; empty if there is none. Values known only later do not
    count.
    """
    if before is None or now is None:
        one = now or before
        assert one is not None
        how = "was not in the plan" if before is None else "was in the plan, but is not there now"
        return f"{one.function} {one.id!r} ({one.where}) {how}"
    title = f"{now.function} {now.id!r} ({now.where})"
    if before.kind != now.kind:
        then, today = VERBS[before.kind].words, VERBS[now.kind].words
        return f"{title}: in the plan it {then}, now it {today}"
    if before.changes != now.changes:
        keys = sorted(
            key for key in {*before.changes, *now.changes} if before.changes.get(key) != now.changes.get(key)
        )
        return f"{title} would change something other than approved: {', '.join(keys)}"
    return ""


def check_machine(proposal: Proposal, machine: str) -> None:
    if proposal.machine != machine:
        raise OperationError(
            Diagnostic(
                code="plan-elsewhere",
                what=f"this plan was made on {proposal.machine!r}, but this machine is {machine!r}",
                fix="make the plan on the machine that it is for",
            )
        )
