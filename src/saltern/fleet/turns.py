"""Whose turn it is in a job that runs on a few systems at a time: a pure decision over its statuses.

The rule: as many systems run at once as the batch allows. One that ends makes room, after the time to wait,
for the next one that is there; one that is away keeps its place in the line and comes when it is back. A
system that was given the job counts until it has ended, also if it is lost meanwhile: never do more run at
once than allowed. More failures than allowed hold back for good all systems that have not had the job.
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
    """What follows: these may begin; or all that wait end with the status ``stop``, for ``why``."""

    begin: tuple[str, ...] = ()
    stop: str = ""
    why: str = ""


def decide_turns(batch: Batch, rows: Sequence[Place], away: Collection[str], now: float) -> Turns:
    """``away``: who could not take the job now."""
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
