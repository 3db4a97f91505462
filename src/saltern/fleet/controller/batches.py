"""Advances jobs that run on a few systems at a time; one controller does it."""

from __future__ import annotations

from collections.abc import Callable

from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import end_events, status_event
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.store.batches import BatchedJob, batched_jobs, release
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import store_events
from saltern.fleet.store.job_queries import targets
from saltern.fleet.store.jobs import Change, set_status
from saltern.fleet.turns import Turns, decide_turns


class Batches:
    """Releases the next systems. If a released job was not sent, the nudges find it."""

    def __init__(
        self, dispatcher: Dispatcher, board: PresenceBoard, hub: Hub, *, now: Callable[[], float]
    ) -> None:
        self._dispatcher = dispatcher
        self._board = board
        self._hub = hub
        self._now = now

    async def __call__(self, hold: Hold) -> bool:
        """False if there is no such job."""
        jobs = await hold.look(batched_jobs, self._now())
        for job in jobs:
            await self._move(hold, job)
        return bool(jobs)

    async def _move(self, hold: Hold, job: BatchedJob) -> None:
        rows = await hold.read(targets, job.jid)
        first = decide_turns(job.batch, rows, (), self._now())
        if not first.begin and not first.stop:
            return  # all places are taken
        away = await self._away([row.system for row in rows if row.status == "held"])
        chosen = decide_turns(job.batch, rows, away, self._now()).begin
        away |= (await self._dispatcher.away(chosen)).keys() if chosen else set()
        turns = await hold.write(_take_turns, job, away, self._now())
        if turns.stop:
            self._hub.wake()
        if turns.begin:
            await self._dispatcher.send(job.jid, list(turns.begin), job.envelope.encode(), "each")

    async def _away(self, systems: list[str]) -> set[str]:
        """The systems that are away, as reported by the broker; they are poked only while that is unknown."""
        if self._board.is_known:
            return {*self._dispatcher.presumed_away(systems)}
        return {*(await self._dispatcher.away(systems))}


def _take_turns(connection: Connection, job: BatchedJob, away: set[str], now: float) -> Turns:
    """Decide from the stored statuses, and store the result."""
    rows = targets(connection, job.jid)
    turns = decide_turns(job.batch, rows, away, now)
    release(connection, job.jid, turns.begin, now)
    if turns.stop:
        _stop(connection, job.jid, [row.system for row in rows if row.status == "held"], turns, now)
    return turns


def _stop(connection: Connection, jid: str, held: list[str], turns: Turns, now: float) -> None:
    changes = [Change(jid, system, turns.stop) for system in held]
    for change in changes:
        set_status(connection, change, now, reported=False, why=turns.why, only_from="held")
    events = [status_event(change, now, why=turns.why) for change in changes]
    store_events(connection, [*events, *end_events(connection, [jid], now)])
