"""Serves followers: each gets stored events from the database, and live notices as they come.

A stored event has a number, the cursor of its reader: none is lost, whichever controller stored it. Live
notices, such as progress, are dropped for a reader that is too slow.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.job_events import as_happened, job_of, notices, presence_notices
from saltern.fleet.protocol.notices import Missed, Notice
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import StoredEvent, newest_event, read_events
from saltern.fleet.store.job_queries import systems_of
from saltern.language.diagnostics import OperationError

LIVE = 1000  # live notices that may wait for one reader
LOOK = 1.0  # seconds after which the hub checks by itself: another controller may have stored something
PAGE = 500  # events that are read at once


class JobPage(Struct, frozen=True):
    """A page of events; those of each job separately, because many readers follow jobs, and most events
    belong to none.
    """

    events: Sequence[StoredEvent]
    jobs: Mapping[str, Sequence[StoredEvent]]
    cursor: int


def read_page(connection: Connection, after: int) -> JobPage:
    """Read a page, once for all readers with the same cursor."""
    page = read_events(connection, after, "*", PAGE)
    jobs: dict[str, list[StoredEvent]] = {}
    for event in page.events:
        if jid := job_of(event):
            jobs.setdefault(jid, []).append(event)
    return JobPage(page.events, jobs, page.cursor)


class Follower:
    """One reader: of a job, or of everything."""

    def __init__(self, jid: str | None) -> None:
        self.jid = jid
        self.systems: set[str] = set()  # the system of a job: no other may report on it
        self.news = asyncio.Event()
        self.live: deque[Notice] = deque()
        self.missed = 0

    def offer(self, notice: Notice) -> None:
        if self.jid is not None and not self._is_mine(notice):
            return
        if len(self.live) >= LIVE:
            self.missed += 1
        else:
            self.live.append(notice)
        self.news.set()

    def _is_mine(self, notice: Notice) -> bool:
        return getattr(notice, "jid", "") == self.jid and getattr(notice, "system", "") in self.systems

    def read(self, page: JobPage) -> Iterator[Notice]:
        """The stored events for this reader; a reader of a job skips all others."""
        if self.jid is not None:
            yield from (
                notice for event in page.jobs.get(self.jid, ()) for notice in notices(event, self.jid)
            )
            return
        for event in page.events:
            yield from presence_notices(event)
            yield as_happened(event)  # it is the last notice of its event

    def take_live(self, cursor: int) -> list[Notice]:
        """The live notices; their number is the cursor, so that a reader continues there after a break."""
        taken = [replace(one, number=cursor) for one in self.live]
        if self.missed:
            taken.append(Missed(count=self.missed, number=cursor))
        self.live.clear()
        self.missed = 0
        return taken


class Hub:
    """All followers of this process."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._followers: set[Follower] = set()
        self.listeners: list[Callable[[], None]] = []  # called when something was stored
        self.job_listeners: list[Callable[[], None]] = []  # called when it was a job of systems, or a return
        self.event_listeners: list[Callable[[], None]] = []  # also if only events were stored
        self._reads: dict[int, asyncio.Task[JobPage]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def following(self) -> int:
        """The number of current readers."""
        return len(self._followers)

    def publish(self, notice: Notice) -> None:
        """Send a notice that is not stored."""
        for follower in self._followers:
            follower.offer(notice)

    def wake(self) -> None:
        """Wake all readers, because something was stored."""
        for listener in self.listeners:
            listener()
        self.wake_for_events()

    def wake_for_jobs(self) -> None:
        """Wake all readers, because a job was sent to its systems, or returns were stored."""
        for listener in self.job_listeners:
            listener()
        self.wake_for_events()

    def wake_for_events(self) -> None:
        """Wake the readers of events, because events of systems were stored that do not affect jobs."""
        self._reads.clear()  # what is being read may be older
        for listener in self.event_listeners:
            listener()
        for follower in self._followers:
            follower.news.set()

    def close(self) -> None:
        """End all readers: the controller stops."""
        self._closed = True
        self.wake()

    async def _watch_others(self) -> None:
        """Check for events stored by other controllers, once for all followers, while there are any."""
        newest = 0
        await asyncio.sleep(LOOK)
        while self._followers:
            with suppress(OperationError):  # the database is away; each reader reports that by itself
                before, newest = newest, await self._calls.look(newest_event)
                if newest != before:
                    self.wake()
            await asyncio.sleep(LOOK)
        self._watch = None

    async def _read(self, cursor: int) -> JobPage:
        """The events after a cursor; readers with the same cursor share the result."""
        task = self._reads.get(cursor)
        if task is None:
            task = self._reads[cursor] = asyncio.create_task(self._calls.look(read_page, cursor))
            task.add_done_callback(lambda done: self._forget(cursor, done))
        return await asyncio.shield(task)

    def _forget(self, cursor: int, task: asyncio.Task[JobPage]) -> None:
        if self._reads.get(cursor) is task:
            del self._reads[cursor]

    async def _add(self, jid: str | None, systems: Collection[str]) -> Follower:
        """Add a reader, once its systems are known."""
        follower = Follower(jid)
        if jid is not None:
            follower.systems = {*systems} or await self._calls.read(systems_of, jid)
        self._followers.add(follower)
        if self._watch is None:
            self._watch = asyncio.create_task(self._watch_others())
        return follower

    async def follow(
        self, jid: str | None, after: int | None = None, systems: Collection[str] = ()
    ) -> AsyncIterator[Notice]:
        """Notices of a job, or events of the whole fleet, after a cursor; without one, from now on."""
        cursor = await self._calls.look(newest_event) if after is None else after
        follower = await self._add(jid, systems)
        try:
            while not self._closed:
                follower.news.clear()
                page = await self._read(cursor)
                for notice in follower.take_live(cursor):
                    yield notice
                for notice in follower.read(page):
                    yield notice
                cursor = page.cursor
                if len(page.events) < PAGE and not self._closed:  # it was the last page
                    await follower.news.wait()
        finally:
            self._followers.discard(follower)
