"""A part of a plan: some chunks, and all that has to run before them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from saltern.plan.plan import Plan, steps_before


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
        listeners=[one for one in plan.listeners if one.index in wanted and one.to in wanted],
    )
