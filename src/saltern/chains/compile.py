"""A chain and a system → the leg: the actions meant for the system, cut into chunks at the barriers."""

from __future__ import annotations

from msgspec import Struct

from saltern.chains.document import Action, Chain
from saltern.modules.chunks import chunk_name


class Chunk(Struct, frozen=True, kw_only=True):
    """Actions that run in one go; a ``barrier`` comes last, and the next chunk begins after it."""

    number: int
    name: str
    actions: tuple[Action, ...] = ()
    barrier: Action | None = None

    @property
    def steps(self) -> tuple[Action, ...]:
        """The barrier among them."""
        return (*self.actions, self.barrier) if self.barrier else self.actions


class Plan(Struct, frozen=True, kw_only=True):
    """All that one system does of a chain."""

    chain: Chain
    system: str
    chunks: tuple[Chunk, ...]

    @property
    def steps(self) -> tuple[Action, ...]:
        """In their order, barriers among them."""
        return tuple(action for chunk in self.chunks for action in chunk.steps)

    def chunk_of(self, action: str) -> Chunk:
        return next(chunk for chunk in self.chunks if action in {one.id for one in chunk.steps})


def plan_for(chain: Chain, system: str) -> Plan:
    """Its chunks are numbered from 1; a system that nothing is meant for has none."""
    groups: list[tuple[list[Action], Action | None]] = []
    left: list[Action] = []
    for action in chain.actions:
        if not action.meant_for(system):
            continue
        if action.row.barrier:
            groups.append((left, action))
            left = []
        else:
            left.append(action)
    if left:
        groups.append((left, None))
    chunks = tuple(
        Chunk(number=number, name=chunk_name(chain.id, system, number), actions=tuple(own), barrier=barrier)
        for number, (own, barrier) in enumerate(groups, 1)
    )
    return Plan(chain=chain, system=system, chunks=chunks)


def state_id(action: str) -> str:
    """The action's id in the id of its state, as results are told by it."""
    return f"action_{action}"
