"""Chunks of one module that may be done in one go: a group.

Members of a group do not wait for each other, however indirectly. Who requires one of them requires
them all, since what is done for one is done for all.
"""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.chunk import Chunk
from saltern.language.requisites import When
from saltern.plan.plan import Need, Plan, steps_before

MOST = 500


def group(plan: Plan, eligible: Callable[[Chunk], bool]) -> None:
    """Find the groups, and let every need of one member count for all."""
    places = [place for place, chunk in enumerate(plan.chunks) if eligible(chunk)]
    if len(places) < 2:
        return
    reach = {place: _reached(plan, place) for place in places}
    groups: list[list[int]] = []
    for place in places:
        home = next((one for one in groups if _fits(plan, place, one, reach)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    for members in groups:
        if len(members) > 1:
            plan.groups.update(dict.fromkeys(members, tuple(members)))
    if plan.groups:
        plan.needs = {place: _widened(plan, place, needs, reach) for place, needs in plan.needs.items()}


def _fits(plan: Plan, place: int, members: list[int], reach: dict[int, set[int]]) -> bool:
    return (
        len(members) < MOST
        and plan.chunks[members[0]].state == plan.chunks[place].state
        and not any(place in reach[one] or one in reach[place] for one in members)
    )


def _reached(plan: Plan, place: int) -> set[int]:
    """Everything that has to be done before a chunk."""
    seen: set[int] = set()
    stack = steps_before(plan, place)[:]
    while stack:
        step = stack.pop()
        if step not in seen:
            seen.add(step)
            stack += steps_before(plan, step)
    return seen


def _widened(plan: Plan, place: int, needs: tuple[Need, ...], reach: dict[int, set[int]]) -> tuple[Need, ...]:
    result: dict[Need, None] = {}
    for need in needs:
        result[need] = None
        if need.kind.when is not When.BEFORE:
            continue
        for other in plan.groups.get(need.on, ()):
            if other != place and place not in reach[other]:
                result[Need(need.kind, other)] = None
    return tuple(result)
