"""Stores the state of systems without an agent, with its events. Each call is fenced: a controller that has
lost the lease writes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from saltern.fleet.controller.batch import Batch
from saltern.fleet.controller.indexer import index
from saltern.fleet.controller.job_events import end_events, presence_change, status_event
from saltern.fleet.controller.limits import RateLimit
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Away, Facts, Records, Return
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import store_events
from saltern.fleet.store.jobs import Change, set_status
from saltern.fleet.store.ssh_systems import (
    RosterChange,
    note_reached,
    note_unreached,
    note_wait,
    set_roster,
)
from saltern.fleet.store.systems import store_facts

GONE = "it is no longer in the roster"
NO_EVENTS = RateLimit(1.0, 1.0, lambda: 0.0)  # batches of ours have no events of agents


def write_roster(connection: Connection, ids: Sequence[str], now: float) -> RosterChange:
    change = set_roster(connection, ids, now)
    events = [status_event(one, now, why=GONE) for one in change.ended]
    store_events(connection, [*events, *end_events(connection, {one.jid for one in change.ended}, now)])
    return change


def write_reached(connection: Connection, system: str, now: float) -> None:
    if note_reached(connection, system, now):
        store_events(connection, [presence_change([system], [], now)])


def write_unreached(connection: Connection, system: str, why: str, now: float) -> None:
    if note_unreached(connection, system, why):
        store_events(connection, [presence_change([], [system], now)])


def write_facts(connection: Connection, system: str, grains: dict[str, Any], now: float) -> None:
    digest = hashlib.sha256(msgspec.json.encode(grains, order="sorted")).hexdigest()
    store_facts(connection, system, Facts(nonce=new_nonce(), digest=digest, grains=grains), now)


def write_begun(connection: Connection, jid: str, system: str, now: float) -> None:
    """Store that the host has the job."""
    write_reached(connection, system, now)
    change = Change(jid, system, "running")
    if set_status(connection, change, now, reported=True, started=now, back_by=None):
        store_events(connection, [status_event(change, now)])


def write_wait(connection: Connection, jid: str, system: str, why: str, now: float) -> None:
    """Store that the job waits for a host that cannot be reached."""
    write_unreached(connection, system, why, now)
    if note_wait(connection, jid, system, why, now):
        store_events(connection, [status_event(Change(jid, system, "queued"), now, why=why)])


def write_down(connection: Connection, system: str, away: Away, now: float) -> None:
    index(connection, Batch(away=[(system, away)]), now, NO_EVENTS)


def write_returns(connection: Connection, system: str, returns: Sequence[Return], now: float) -> None:
    index(connection, Batch(returns=[(system, one) for one in returns]), now, NO_EVENTS)


def write_records(connection: Connection, system: str, records: Records, now: float) -> None:
    index(connection, Batch(records=[(system, records)]), now, NO_EVENTS)
