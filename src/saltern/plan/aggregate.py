"""Groups: chunks of one module that can be processed together.

Members of a group do not wait for each other, even indirectly. A chunk that requires one of them requires
them all, since they are processed together.
"""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.chunk import Chunk
from saltern.language.requisites import When
from saltern.plan.plan import Need, Plan, steps_before

MOST = 500


def group(plan: Plan, eligible: Callable[[Chunk], bool]) -> None:
    """Find the groups, and make every need of one member a need of all."""
    indexes = [index for index, chunk in enumerate(plan.chunks) if eligible(chunk)]
    if len(indexes) < 2:
        return
    reach = {index: _earlier_chunks(plan, index) for index in indexes}
    groups: list[list[int]] = []
    for index in indexes:
        home = next((one for one in groups if _fits(plan, index, one, reach)), None)
        if home is None:
            groups.append([index])
        else:
            home.append(index)
    for members in groups:
        if len(members) > 1:
            plan.groups.update(dict.fromkeys(members, tuple(members)))
    if plan.groups:
        plan.needs = {index: _widen_needs(plan, index, needs, reach) for index, needs in plan.needs.items()}


def _fits(plan: Plan, index: int, members: list[int], reach: dict[int, set[int]]) -> bool:
    return (
        len(members) < MOST
        and plan.chunks[members[0]].state == plan.chunks[index].state
        and not any(index in reach[one] or one in reach[index] for one in members)
    )


def _earlier_chunks(plan: Plan, index: int) -> set[int]:
    """All chunks that must run before a chunk."""
    seen: set[int] = set()
    stack = steps_before(plan, index)[:]
    while stack:
        step = stack.pop()
        if step not in seen:
            seen.add(step)
            stack += steps_before(plan, step)
    return seen


def _widen_needs(
    plan: Plan, index: int, needs: tuple[Need, ...], reach: dict[int, set[int]]
) -> tuple[Need, ...]:
    result: dict[Need, None] = {}
    for need in needs:
        result[need] = None
        if need.kind.when is not When.BEFORE:
            continue
        for other in plan.groups.get(need.on, ()):
            if other != index and index not in reach[other]:
                result[Need(need.kind, other)] = None
    return tuple(result)
