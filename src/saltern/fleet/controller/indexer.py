"""Stores returns, journals and events in the database: reads them in batches, stores, then acknowledges.

A batch is one transaction. Storing is idempotent, so a crash between storing and acknowledging loses and
duplicates nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct

from saltern.fleet.bus.ports import Bus, BusError, Delivery, NoStream, Reader, ReaderOptions
from saltern.fleet.controller.alarms import Alarms
from saltern.fleet.controller.batch import Batch, Refusal, read_batch, system_of
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import agent_event, end_events, status_event
from saltern.fleet.controller.limits import RateLimit
from saltern.fleet.controller.local_jobs import begin_local_jobs
from saltern.fleet.protocol.messages import Away, Event, Return
from saltern.fleet.protocol.tags import EVENT_BURST, EVENT_RATE
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.jobs import Change, set_status, store_returns
from saltern.fleet.store.returns import expected_pairs, store_records
from saltern.fleet.store.settings import write_setting
from saltern.fleet.store.systems import announce_away
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

WAIT = 5.0  # seconds for which one request waits for the first message
PAUSE = 1.0  # after a failure
QUIET = 0.5  # seconds without a message after which the waiting time is reset
LONGEST_AWAY = 86_400.0  # seconds that a system may announce to be away


class Manner(Struct, frozen=True, kw_only=True):
    """How a stream is read: in batches, because a transaction costs more than its rows. ``linger``: seconds
    in which one more message must come, or the batch is stored. ``gather``: seconds after a batch in which
    the next one accumulates; doubled with each batch that follows soon, up to ``most``. ``patient``: bulk
    data, which is written after everything else that waits.
    """

    batch: int
    linger: float = 0.0
    gather: float = 0.0
    most: float = 0.0
    patient: bool = False

    def after(self, before: float, quiet: float) -> float:
        """Seconds to wait after a batch. ``before``: the wait before it; ``quiet``: the seconds without
        messages before it.
        """
        return min(self.most, 2 * before) if before and quiet < QUIET else self.gather


MANNERS = {
    "RETURNS": Manner(batch=500, linger=0.005),
    "EVENTS": Manner(batch=200, gather=0.03, most=0.24, patient=True),  # four transactions a second
}


class OutOfOrder(Exception):
    """The database is not usable now: the messages are read again."""


class Indexed(Struct, frozen=True):
    """What a batch has changed. ``changed``: jobs or systems; otherwise only events of systems."""

    returned: int = 0
    refused: tuple[Refusal, ...] = ()
    changed: bool = True


class Indexer:
    """Reads one stream for ever. All controllers share the messages."""

    def __init__(
        self,
        bus: Bus,
        calls: Calls,
        hub: Hub,
        alarms: Alarms,
        *,
        now: Callable[[], float],
        stream: str,
        name: str = "indexer",
    ) -> None:
        self.stored = 0
        self.batches = 0
        self.problem = ""
        self._bus = bus
        self._calls = calls
        self._hub = hub
        self._alarms = alarms
        self._now = now
        self.options = ReaderOptions(stream=stream, name=name)
        self.manner = MANNERS[stream]
        self._came = 0.0  # when the last messages came
        self._limit = RateLimit(EVENT_RATE, EVENT_BURST, now)

    async def run(self) -> None:
        while True:
            try:
                await self._read(await self._bus.reader(self.options))
            except BusError as problem:
                await self._pause(problem)

    async def _read(self, reader: Reader) -> None:
        """Store the messages of the reader, until its stream no longer exists."""
        gathered = 0.0
        try:
            while True:
                try:
                    began = time.monotonic()
                    number = await self.step(reader, wait=0.0 if self.problem else WAIT)  # it may be over
                    self.problem = ""
                    gathered = self.manner.after(gathered, self._came - began)
                    if 0 < number < self.manner.batch:
                        await asyncio.sleep(gathered)
                except NoStream:
                    raise
                except (BusError, OutOfOrder, OperationError, TimeoutError) as problem:
                    await self._pause(problem)
        finally:
            await reader.stop()

    async def _pause(self, problem: Exception) -> None:
        self.problem = str(problem) or type(problem).__name__
        log.warning("%s cannot be read or stored now: %s", self.options.stream, self.problem)
        await asyncio.sleep(PAUSE)

    async def step(self, reader: Reader, *, wait: float = WAIT) -> int:
        """Store and acknowledge one batch; return the number of its messages."""
        deliveries = await reader.fetch(self.manner.batch, wait, linger=self.manner.linger)
        self._came = time.monotonic()
        if deliveries:
            try:
                indexed = await self._store(deliveries)
            except OutOfOrder:
                await _give_back(reader, deliveries)
                raise
            self.stored += indexed.returned
            self.batches += 1
            (self._hub.wake_for_jobs if indexed.changed else self._hub.wake_for_events)()
            await reader.done(deliveries)
            for one in indexed.refused:
                self._alarms.refuse(one.system, one.reason)
        return len(deliveries)

    async def _store(self, deliveries: Sequence[Delivery]) -> Indexed:
        """Store a batch; if that fails, one by one, so that no message can block those of others."""
        try:
            return await self._write(deliveries)
        except Exception as problem:
            if not await self._is_well():
                raise OutOfOrder(str(problem)) from problem
            log.warning("a batch is stored one by one: %s", problem)
        done = [await self._store_one(delivery) for delivery in deliveries]
        refused = tuple(refusal for one in done for refusal in one.refused)
        return Indexed(sum(one.returned for one in done), refused)

    async def _store_one(self, delivery: Delivery) -> Indexed:
        """Store a message; one that a working database refuses twice is left out."""
        for _ in range(2):
            try:
                return await self._write([delivery])
            except Exception as problem:
                if not await self._is_well():
                    raise OutOfOrder(str(problem)) from problem
        system = system_of(delivery.kept.subject.split(".")[1])
        return Indexed(refused=(Refusal(system, "unstorable"),))

    async def _write(self, deliveries: Sequence[Delivery]) -> Indexed:
        write = self._calls.write_later if self.manner.patient else self._calls.write
        return await write(self._index, deliveries, self._now())

    async def _is_well(self) -> bool:
        """True if the database accepts changes."""
        try:
            await self._calls.write(_check)
        except OperationError:
            return False
        return True

    def _index(self, connection: Connection, deliveries: Sequence[Delivery], now: float) -> Indexed:
        """Decode and store, in the writing thread, since decoding also takes time."""
        batch = read_batch(deliveries)
        refused = (*index(connection, batch, now, self._limit), *batch.refused)
        return Indexed(len(batch.returns), refused, bool(batch.returns or batch.records or batch.away))


async def _give_back(reader: Reader, deliveries: Sequence[Delivery]) -> None:
    """Have messages that could not be stored delivered again soon, not only after their timeout."""
    with suppress(BusError):
        for delivery in deliveries:
            await reader.again(delivery, PAUSE)


def _check(connection: Connection) -> None:
    write_setting(connection, "check", 1)


def index(connection: Connection, batch: Batch, now: float, limit: RateLimit) -> list[Refusal]:
    """Store a batch; return the refused messages."""
    refused: list[Refusal] = []
    events = [*_index_returns(connection, batch, now, refused)]
    strangers = store_records(connection, batch.records)
    refused += [Refusal(system, "foreign-job") for system in strangers]
    for system, away in batch.away:
        events += _index_away(connection, system, away, now)
    events += _index_events(batch.events, now, limit, refused)
    store_events(connection, events)
    return refused


def _index_returns(
    connection: Connection, batch: Batch, now: float, refused: list[Refusal]
) -> list[NewEvent]:
    if not batch.returns:
        return []
    returns: dict[tuple[str, str], Return] = {(one.jid, system): one for system, one in batch.returns}
    begun = begin_local_jobs(connection, batch.returns, now)
    changes = store_returns(connection, batch.returns, now)
    if len(changes) < len(returns):
        strangers = returns.keys() - expected_pairs(connection, returns)
        refused += [
            Refusal(system, "foreign-job") for system, one in batch.returns if (one.jid, system) in strangers
        ]
    events = [status_event(change, now, returns[change.jid, change.system]) for change in changes]
    return [*begun, *events, *end_events(connection, {change.jid for change in changes}, now)]


def _index_away(connection: Connection, system: str, away: Away, now: float) -> list[NewEvent]:
    back_by = min(away.back_by, now + LONGEST_AWAY) if away.back_by > now else None
    announce_away(connection, system, back_by)
    if away.jid is None or away.why not in ("reboot", "update"):
        return []
    change = Change(away.jid, system, "down")
    if not set_status(connection, change, now, reported=True, why=away.why, back_by=back_by):
        return []
    return [status_event(change, now, why=away.why, back_by=back_by)]


def _index_events(
    events: Sequence[tuple[str, Event]], now: float, limit: RateLimit, refused: list[Refusal]
) -> list[NewEvent]:
    taken = []
    for system, event in events:
        if limit.allow(system):
            taken.append(agent_event(system, event, now))
        else:
            refused.append(Refusal(system, "flood"))
    return taken
