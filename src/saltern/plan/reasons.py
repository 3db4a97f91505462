"""Why a state runs at its position, what it waits for, and what waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from saltern.language.chunk import Chunk
from saltern.language.requisites import When
from saltern.plan.plan import Plan


class Tie(Struct, frozen=True):
    """One state waits for another: ``kind`` is the requisite, ``sls`` the file if the whole file is
    required.
    """

    kind: str
    before: int
    after: int
    sls: str = ""


def title(chunk: Chunk) -> str:
    return f"{chunk.function} {chunk.label!r}"


def reason(plan: Plan, index: int) -> str:
    """One line: why this state is at its position."""
    chunk = plan.chunks[index]
    if index in plan.pulled_by:
        by = plan.pulled_by[index]
        puller = title(plan.chunks[by])
        if any(index in plan.behind(step) for step in plan.preparers.get(by, ())):
            return f"prepares for {puller} (prereq)"
        return f"pulled forward by {_requisite(plan, by, index)} of {puller}"
    if "order" in chunk.words:
        return f"order: {chunk.order}"
    return "definition order"


def _requisite(plan: Plan, owner: int, index: int) -> str:
    """The requisite with which one chunk pulls another."""
    size = len(plan.chunks)
    for need in plan.needs.get(owner, ()):
        if need.on == index or (need.on >= size and index in plan.behind(need.on)):
            return need.kind.name
    return "a requisite"  # of the chunk that it is rehearsed for


def pullers(plan: Plan, index: int) -> list[int]:
    """The chunk that pulled it forward, the one that pulled that, and so on to a state at its written
    position.
    """
    chain: list[int] = []
    while (by := plan.pulled_by.get(index)) is not None and by not in chain:
        chain.append(by)
        index = by
    return chain


def ties(plan: Plan) -> Iterator[Tie]:
    """Every requisite, in execution order; ``listen`` comes last and implies no order.

    A file or pattern that is required as a whole is a join, with a number like a state.
    """
    names = plan.join_names
    for owner, needs in plan.needs.items():
        for need in needs:
            ends = (owner, need.on) if need.kind.when is When.REHEARSED else (need.on, owner)
            yield Tie(need.kind.name, *ends, names.get(need.on, ""))
    for one in plan.listeners:
        yield Tie("listen", one.to, one.index, names.get(one.to, ""))


def positions(plan: Plan) -> dict[int, int]:
    """Index → position in the execution sequence, from 1."""
    return {step: at for at, step in enumerate((one for one in plan.sequence if one >= 0), 1)}
