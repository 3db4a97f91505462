"""A part of a plan: some chunks, and everything that must run before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from saltern.plan.plan import Listener, Plan, steps_before


def subset(plan: Plan, indexes: Sequence[int]) -> Plan:
    wanted: set[int] = set()
    stack: list[int] = list(indexes)
    while stack:
        step = stack.pop()
        if step not in wanted:
            wanted.add(step)
            stack += steps_before(plan, step)
    return replace(
        plan,
        sequence=[step for step in plan.sequence if step in wanted],
        listeners=list(_listeners(plan, wanted)),
    )


def _listeners(plan: Plan, wanted: set[int]) -> Iterator[Listener]:
    """The wanted listeners to wanted chunks."""
    steps = {step for one in plan.listeners for step in (one.index, one.to)}
    left = {step: [index for index in plan.behind(step) if index in wanted] for step in steps}
    whole = {step for step in steps if len(left[step]) == len(plan.behind(step))}
    for one in plan.listeners:
        if left[one.to]:
            yield from [one] if one.index in whole else [Listener(index, one.to) for index in left[one.index]]
