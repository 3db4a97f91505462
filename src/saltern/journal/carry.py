"""``apply --failed-from``: results of an earlier run that remain valid, copied to the journal of a new run.

The rule: a result is kept if the state and everything it rendered succeeded and is written as before,
unless the state waits for one that is not kept. Kept states are not called again, and states that wait for
them see their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from saltern.journal.body import Body
from saltern.journal.chunk_codec import chunk_key, chunks_in
from saltern.journal.hidden import DROPPED, SUM, chunk_sum
from saltern.journal.run_state import RunState
from saltern.plan.plan import Plan

Event = tuple[str, Body]


def carried_records(plan: Plan, old: RunState) -> Iterator[Event]:
    """Records of the ``old`` run, with the indexes that states have in the new ``plan``."""
    kept = _kept_indexes(plan, old)
    scope = old.scope("")
    numbers: set[int] = set()
    for index, before in kept.items():
        body = scope.done[before]
        numbers.add(body["answer"]["number"])
        if before in scope.rehearsed:
            outcome, changed = scope.rehearsed[before]
            yield "rehearsed", {"scope": "", "place": index, "outcome": outcome, "changed": changed}
        yield "done", {**body, "place": index}
    yield from _below(old, "", numbers)
    hear_others = _listeners_to_others(plan, kept)
    for index, before in kept.items():
        if before in scope.listened and index not in hear_others:
            yield "listened", {**scope.listened[before], "place": index}


def _kept_indexes(plan: Plan, old: RunState) -> dict[int, int]:
    """New index → old index of the states whose results are kept."""
    scope = old.scope("")
    known = {chunk_key(chunk): at for at, chunk in enumerate(chunks_in(scope.plan, old.sources))}
    same = {index: known.get(chunk_key(chunk), -1) for index, chunk in enumerate(plan.chunks)}
    sums = {at: row[9][SUM] for at, row in enumerate(scope.plan["chunks"]) if row[9] and SUM in row[9]}
    if sums:
        same |= _by_sums(plan, sums)
    fine = {index: at for index, at in same.items() if at in scope.done and _is_fine(old, "", scope.done[at])}
    due = _due_and_waiting(plan, set(same) - set(fine))
    return {index: at for index, at in fine.items() if index not in due}


def _by_sums(plan: Plan, sums: Mapping[int, Sequence[str]]) -> dict[int, int]:
    """The same for states of which the journal has only a checksum."""
    return {
        index: at
        for index, chunk in enumerate(plan.chunks)
        if chunk.hidden or chunk.delayed
        for at, (salt, known) in sums.items()
        if chunk_sum(chunk, salt) == known
    }


def _is_fine(old: RunState, scope: str, body: Body) -> bool:
    """True if a state and everything below it succeeded."""
    answer = body["answer"]
    state, number = old.scope(scope), answer["number"]
    frames = [old.scope(path) for (caller, _), path in state.frames.items() if caller == number]
    stand_ins = [one for (caller, _), one in state.stand_ins.items() if caller == number]
    return (
        answer["result"]["outcome"] is True
        and DROPPED not in body
        and all(step["result"]["outcome"] is not False for step in old.steps.get(number, ()))
        and all(one["answer"]["result"]["outcome"] is not False for one in stand_ins)
        and all(len(frame.done) == len(frame.plan["chunks"]) for frame in frames)
        and all(
            _is_fine(old, frame.frame["path"], one)
            for frame in frames
            if frame.frame
            for one in (*frame.done.values(), *frame.listened.values())
        )
    )


def _due_and_waiting(plan: Plan, due: set[int]) -> set[int]:
    """The states that are due, and all states that wait for them."""
    size = len(plan.chunks)
    waits: dict[int, list[int]] = {}
    for index, needs in plan.needs.items():
        for need in needs:
            waits.setdefault(need.on, []).append(index)
    for step in [step for step in waits if step >= size]:
        for one in plan.behind(step):
            waits.setdefault(one, []).append(step)
    found: set[int] = set()
    stack = list(due)
    while stack:
        index = stack.pop()
        if index not in found:
            found.add(index)
            stack += waits.get(index, [])
    return {index for index in found if index < size}


def _below(old: RunState, scope: str, numbers: set[int]) -> Iterator[Event]:
    """The sub states and frames of callers with these numbers."""
    for number in sorted(numbers):
        for step in old.steps.get(number, ()):
            yield "step", step
            yield from _below(old, scope, {step["number"]})
    state = old.scope(scope)
    for (caller, _), body in state.stand_ins.items():
        if caller in numbers:
            yield "stand-in", body
    for (caller, target), path in state.frames.items():
        if caller in numbers:
            yield from _frame(old, scope, target, path)


def _frame(old: RunState, scope: str, target: int, path: str) -> Iterator[Event]:
    inner = old.scope(path)
    yield "frame", {"scope": scope, "target": target, "frame": inner.frame, "plan": inner.plan}
    for index, (outcome, changed) in inner.rehearsed.items():
        yield "rehearsed", {"scope": path, "place": index, "outcome": outcome, "changed": changed}
    for body in inner.done.values():
        yield "done", body
    yield from _below(old, path, {body["answer"]["number"] for body in inner.done.values()})
    for body in inner.listened.values():
        yield "listened", body
    yield "frame-end", {"path": path}


def _listeners_to_others(plan: Plan, kept: Mapping[int, int]) -> set[int]:
    """The listeners to states whose results are not kept."""
    steps = {one.to for one in plan.listeners}
    others = {step for step in steps if not all(index in kept for index in plan.behind(step))}
    listeners = {one.index for one in plan.listeners if one.to in others}
    return {index for step in listeners for index in plan.behind(step)}
