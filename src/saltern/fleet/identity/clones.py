"""Detects two machines with one identity when the second one syncs, and refuses the second.

A copy of a machine has the same keys, so the broker lets both in. But each start of an agent draws an
``instance``, and counts ``starts`` on disk. If an agent syncs with a different instance from the known one,
and the known one still answers a poke, there are two.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from saltern.fleet.bus.poke import Poker
from saltern.fleet.protocol.messages import SyncRequest


class Life(Struct, frozen=True):
    """The last agent process that the controller knows of."""

    instance: str
    starts: int
    boot: str = ""


class Verdict(Enum):
    """What a controller concludes about a machine that syncs."""

    SAME = "the same process as before"
    RESTARTED = "the agent was started again"
    RESTORED = "an older copy of the machine took its place; its keys are valid, its spool is old"
    TWIN = "another agent with the same identity is at work"


def needs_a_look(known: Life | None, sync: SyncRequest) -> bool:
    """True if only a poke can distinguish a restart from a copy."""
    return known is not None and known.instance != sync.instance


def judge(known: Life | None, sync: SyncRequest, answering: frozenset[str]) -> Verdict:
    """Decide about the agent that syncs. ``answering``: the instances that answered a poke, including it."""
    if known is None or known.instance == sync.instance:
        return Verdict.TWIN if answering - {sync.instance} else Verdict.SAME
    if known.instance in answering or answering - {sync.instance}:
        return Verdict.TWIN
    return Verdict.RESTARTED if sync.starts > known.starts else Verdict.RESTORED


async def find_twin(poker: Poker, id: str, known: Life | None, sync: SyncRequest, *, wait: float) -> Verdict:
    """Decide about the agent that syncs; poke only if needed."""
    if not needs_a_look(known, sync):
        return judge(known, sync, frozenset())
    found = await poker.poke([id], timeout=wait, linger=wait)
    return judge(known, sync, frozenset(alive.instance for alive in found.there.get(id, ())))


def refusal(id: str, verdict: Verdict) -> str:
    """The answer to the second agent and the operator; empty if the agent may stay."""
    if verdict is not Verdict.TWIN:
        return ""
    return (
        f"another machine runs as {id!r} with the same keys: if this one is a copy, remove its keys and"
        " membership and join again; if the other one is the copy, stop it"
    )
