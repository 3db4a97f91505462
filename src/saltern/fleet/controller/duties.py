"""Continuous duties of one controller: deadlines, lost messages, presence, retention."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from saltern.fleet.bus.poke import Presence
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import end_events, presence_change, presence_present, status_event
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.files.sweep import Sweeper
from saltern.fleet.protocol.messages import Control
from saltern.fleet.store.database import Connection
from saltern.fleet.store.deliveries import has_unsent, unsent
from saltern.fleet.store.events import store_events
from saltern.fleet.store.jobs import OVER, Change, end_overdue, overdue, touch
from saltern.fleet.store.retention import Limit, prune
from saltern.fleet.store.statuses import WAITING
from saltern.fleet.store.systems import note_away, presence_of, set_presence
from saltern.fleet.store.tokens import remove_expired

log = logging.getLogger(__name__)

UNSENT = 15.0  # seconds after which a connected system that has not begun a job is asked to sync
DAY = 86_400.0


class Deadlines:
    """Ends overdue jobs. One that an agent still works on is left alone: it reports its own end."""

    def __init__(self, dispatcher: Dispatcher, hub: Hub, *, now: Callable[[], float]) -> None:
        self._dispatcher = dispatcher
        self._hub = hub
        self._now = now

    async def __call__(self, hold: Hold) -> None:
        now = self._now()
        found = await hold.look(overdue, now)
        if not found:
            return
        asked = {
            one.system for one in found if one.status not in WAITING
        }  # it may wait there for another job
        alive = await self._dispatcher.poke(asked) if asked else Presence(frozenset())
        late = still_overdue(found, alive)
        if await hold.write(_end, late, [one for one in found if one not in late], now):
            self._hub.wake()


def still_overdue(found: Iterable[Change], alive: Presence) -> list[Change]:
    """The overdue jobs that no agent reports as running. Pure."""
    working = {(system, jid) for system, said in alive.there.items() for one in said for jid in one.running}
    return [one for one in found if (one.system, one.jid) not in working]


def _end(connection: Connection, some: list[Change], working: list[Change], now: float) -> int:
    touch(connection, working, now)  # the next round begins with others
    changes = end_overdue(connection, some, now)
    events = [status_event(change, now, why=OVER) for change in changes]
    store_events(connection, [*events, *end_events(connection, {one.jid for one in changes}, now)])
    return len(changes)


class Nudges:
    """Asks connected systems to sync that have not begun a waiting job: the message was lost, or the
    controller that stored the job ended before it sent it.
    """

    def __init__(
        self, dispatcher: Dispatcher, board: PresenceBoard, *, now: Callable[[], float], after: float = UNSENT
    ) -> None:
        self._dispatcher = dispatcher
        self._board = board
        self._now = now
        self._after = after
        self._asked: dict[str, float] = {}

    async def __call__(self, hold: Hold) -> None:
        now = self._now()
        self._asked = {system: at for system, at in self._asked.items() if at > now - 4 * self._after}
        before = now - self._after
        waiting = await hold.read(unsent, before, now) if await hold.look(has_unsent, before, now) else set()
        some = sorted(waiting & self._board.online - self._asked.keys())
        self._asked |= dict.fromkeys(some, now)
        if some:
            await self._dispatcher.order(Control(action="sync"), some)


class PresenceKeeper:
    """Writes which systems connected and disconnected. The board is authoritative; the database is for
    readers.
    """

    def __init__(self, board: PresenceBoard, hub: Hub, *, now: Callable[[], float]) -> None:
        self._board = board
        self._hub = hub
        self._now = now

    async def __call__(self, hold: Hold) -> None:
        changes = self._board.take_changes()
        if not self._board.is_known or not (hold.fresh or changes.came or changes.went):
            return
        if await hold.write(_write_presence, self._board.online, self._now()):
            self._hub.wake()


def _write_presence(connection: Connection, online: set[str], now: float) -> bool:
    """Compare with the stored state, so that a new holder of the lease repeats nothing."""
    known = presence_of(connection)
    came = sorted(system for system, was in known.items() if not was and system in online)
    went = sorted(system for system, was in known.items() if was and system not in online)
    for system in came:
        set_presence(connection, system, now, online=True)
    for system in went:
        note_away(connection, system, now)
    if came or went:
        store_events(connection, [presence_change(came, went, now), presence_present(online, now)])
    return bool(came or went)


class Retention:
    """Removes what is too old or exceeds a limit, in small steps."""

    def __init__(self, limits: dict[str, Limit], *, now: Callable[[], float]) -> None:
        self._limits = limits
        self._now = now

    async def __call__(self, hold: Hold) -> None:
        now = self._now()
        await hold.write(remove_expired, now - DAY)
        while any((await hold.write(prune, self._limits, now)).values()):
            pass


class OldFiles:
    """Removes files that no kept version of a tree names any more."""

    def __init__(self, sweeper: Sweeper, versions: int) -> None:
        self._sweeper = sweeper
        self._versions = versions

    async def __call__(self, _hold: Hold) -> None:
        await self._sweeper.sweep(versions=self._versions)
