"""Which systems of a job in batches may begin next: a pure decision from the statuses of all systems.

The rule: as many systems run at once as the batch allows. When one ends, the next connected system begins
after the pause; a system that is away keeps its position in the queue and begins when it is back. A system
that was given the job counts as running until it has ended, even if it is lost meanwhile, so never more run
at once than allowed. With more failures than allowed, no system that has not had the job gets it any more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.fleet.chains.amounts import read_amount
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.store.statuses import ENDS

BAD = frozenset({"failed", "refused", "indeterminate", "expired"})


class Place(Protocol):
    """One system of the job: its status, and since when."""

    @property
    def system(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def updated(self) -> float: ...


class Turns(Struct, frozen=True, kw_only=True):
    """The decision: these systems may begin, or all that wait end with the status ``stop``, because of
    ``why``.
    """

    begin: tuple[str, ...] = ()
    stop: str = ""
    why: str = ""


def decide_turns(batch: Batch, rows: Sequence[Place], away: Collection[str], now: float) -> Turns:
    """Decide which systems begin now. ``away``: the systems that are not connected."""
    held = [row.system for row in rows if row.status == "held"]
    ended = [row for row in rows if row.status in ENDS]
    failed = sum(row.status in BAD for row in ended)
    if not held:
        return Turns()
    if batch.failures and read_amount(batch.failures).is_exceeded(failed, len(rows)):
        return Turns(stop="cancelled", why=f"not begun: {failed} of {len(rows)} systems failed before")
    resting = [row for row in ended if row.status != "expired" and row.updated + batch.wait > now]
    busy = len(rows) - len(held) - len(ended) + len(resting)
    room = max(0, read_amount(batch.size).at_most(len(rows)) - busy)
    present = [system for system in held if system not in away]
    if not busy and not present and now > max(row.updated for row in rows) + batch.patience:
        return Turns(stop="expired", why="away when its turn came")
    return Turns(begin=tuple(present[:room]))
