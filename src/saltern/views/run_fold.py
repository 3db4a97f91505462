"""Folds a run that is too large to draw: consecutive states of a file become one item, and so do the states
that they rendered.

An item has the colour of its worst answer and shows the number of answers of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from saltern.journal.chunk_codec import chunks_in
from saltern.journal.codec import answer_in
from saltern.journal.run_state import RunState, ScopeState
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Answer
from saltern.plan.make import make_plan
from saltern.report.verdict import with_steps
from saltern.views.fold import MOST_DRAWN, groups_of, of_groups
from saltern.views.picture import DELAYED, Edge, Item, Picture
from saltern.views.run_status import status_of, steps_below

WORST_FIRST = ("failed", "blocked", "waiting", "would", "changed", "ok", "skipped")
MOST_NAMED = 20  # failures of one item

Statuses = dict[int, str]  # index → one word


def is_huge(state: RunState) -> bool:
    return sum(len(scope.plan["chunks"]) for scope in state.scopes.values() if scope.plan) > MOST_DRAWN


def folded_run(state: RunState, *, only_reached: bool = False) -> Picture:
    """The folded picture of a run. ``only_reached``: without the states that the run did not include."""
    scope = state.scopes[""]
    chunks = chunks_in(scope.plan, state.sources)
    plan = make_plan(chunks, scope.plan["rendered"], Diagnostics())
    statuses = _statuses(state, scope, chunks)
    sequence = [step for step in plan.sequence if step >= 0 and (step in statuses or not only_reached)]
    groups = groups_of(plan, sequence)
    picture = of_groups(plan, groups)
    rendered = _frame_statuses(state, scope)
    for item, indexes in zip(tuple(picture.items), groups, strict=True):
        _colour_item(item, [(chunks[index].label, statuses.get(index, "waiting")) for index in indexes])
        below = [one for index in indexes for one in rendered.get(index, ())]
        if below:
            picture.items.append(_rendered_item(item.key, below))
            picture.edges.append(Edge(DELAYED, item.key, f"{item.key}>"))
    return picture


def _statuses(state: RunState, scope: ScopeState, chunks: Sequence[Chunk]) -> Statuses:
    return {
        index: status_of(answer, with_steps([answer, *steps_below(state, answer.number)]).get(answer.number))
        for index, answer in _answers(scope, chunks)
    }


def _answers(scope: ScopeState, chunks: Sequence[Chunk]) -> Iterator[tuple[int, Answer]]:
    for index, body in scope.done.items():
        yield index, answer_in(body["answer"], chunks[index])


def _frame_statuses(state: RunState, scope: ScopeState) -> dict[int, list[tuple[str, str]]]:
    """For each caller, the label and status of every state in its frames and the frames within them."""
    indexes = {body["answer"]["number"]: index for index, body in scope.done.items()}
    found: dict[int, list[tuple[str, str]]] = {}
    for (caller, _), path in scope.frames.items():
        if caller in indexes:
            found.setdefault(indexes[caller], []).extend(_below(state, path))
    return found


def _below(state: RunState, path: str) -> Iterator[tuple[str, str]]:
    scope = state.scopes[path]
    if scope.frame is None:
        return
    chunks = chunks_in(scope.plan, state.sources)
    statuses = _statuses(state, scope, chunks)
    yield from ((chunk.label, statuses.get(index, "waiting")) for index, chunk in enumerate(chunks))
    for inner in scope.frames.values():
        yield from _below(state, inner)


def _rendered_item(key: str, below: Sequence[tuple[str, str]]) -> Item:
    item = Item(key=f"{key}>", kind="sls", title="rendered during the run")
    _colour_item(item, below)
    return item


def _colour_item(item: Item, answers: Sequence[tuple[str, str]]) -> None:
    counts = Counter(status for _, status in answers)
    item.status = min(counts, key=WORST_FIRST.index)
    item.below = _count_statuses(counts)
    failed = [label for label, status in answers if status == "failed"]
    if failed:
        more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
        item.facts["why"] = [f"failed: {', '.join(failed[:MOST_NAMED])}{more}"]


def _count_statuses(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    parts = [f"{counts[status]} {status}" for status in WORST_FIRST if status in counts]
    return f"{total} {'state' if total == 1 else 'states'}: {', '.join(parts)}"
