"""Systems that were restored to an earlier state from a snapshot or a backup: their open legs are
indeterminate.
"""

from __future__ import annotations

from saltern.fleet.chains.events import Restored
from saltern.fleet.controller.chains.decisions import Decisions
from saltern.fleet.store.chain_runs import open_legs_of
from saltern.fleet.store.database import Connection

WHY = "its system was restored to an earlier state"


def doubt_legs(connection: Connection, system: str, now: float) -> list[str]:
    """End the open legs of a system as indeterminate; return their runs."""
    found = open_legs_of(connection, system)
    for run, leg in found:
        _doubt(connection, run, Restored(now=now, leg=leg))
    return [run for run, _ in found]


def _doubt(connection: Connection, run: str, event: Restored) -> None:
    Decisions().decide(connection, run, lambda _run: [event], hard=True, reason=WHY)
