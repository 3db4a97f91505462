"""``NatsBus``: a bus that keeps connected. It makes one link after the other, and subscribes again on
each.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec

from saltern.fleet.bus import jetstream
from saltern.fleet.bus.inbox import Inbox
from saltern.fleet.bus.nats import Connection, Link, ServerFacts
from saltern.fleet.bus.ports import (
    MAX_PENDING,
    NO_HEADERS,
    BusError,
    Change,
    Disconnected,
    Handler,
    Kept,
    Message,
    NoListener,
    NoStream,
    NotConnected,
    NotPermitted,
    ReaderOptions,
    State,
    Stored,
    StreamState,
    Watcher,
)
from saltern.fleet.bus.reader import StreamReader
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.bus.tasks import end
from saltern.fleet.protocol.streams import Stream

log = logging.getLogger(__name__)

API_TIMEOUT = 5.0


class NatsBus:
    """The bus of one credential. Make it with ``connect``."""

    def __init__(self, settings: Connection) -> None:
        self._settings = settings
        self._link: Link | None = None
        self._up = asyncio.Event()
        self._subs: list[KeptSubscription] = []
        self._watchers: list[Watcher] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keeper: asyncio.Task[None] | None = None
        self._turn = count()
        self._swap = asyncio.Lock()

    @classmethod
    async def connect(cls, settings: Connection, *, wait: float | None = 10.0) -> NatsBus:
        """Connect, and keep connected. With ``wait`` the first connection must be made in that time; without,
        it is tried for ever, and ``watch`` reports it.
        """
        bus = cls(settings)
        if wait is not None:
            bus._link = await bus._first(wait)
            bus._up.set()
        bus._keeper = asyncio.create_task(bus._keep())
        return bus

    async def _first(self, wait: float) -> Link:
        problems: dict[str, None] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                for _ in self._settings.servers:
                    try:
                        return await self._opened()
                    except NotConnected as problem:
                        problems[str(problem)] = None
        raise NotConnected("; ".join(problems) or f"no answer from {', '.join(self._settings.servers)}")

    async def _opened(self) -> Link:
        """A new link to the next server of the list, with all subscriptions."""
        servers = self._settings.servers
        link = Link(self._settings, self._notify)
        await link.open(servers[next(self._turn) % len(servers)])
        for sub in list(self._subs):
            try:
                await link.add(sub)
            except NotPermitted as problem:
                log.error("%s", problem)
            except BusError as problem:
                await link.shut()
                raise NotConnected(f"the connection was lost while subscribing: {problem}") from None
        return link

    async def _keep(self) -> None:
        """Make a new link whenever there is none. Ends with ``close`` only."""
        attempt = 0
        while True:
            if self._link is not None:
                attempt = await self._until_lost(self._link, attempt)
            await asyncio.sleep(self._settings.backoff.delay(attempt))
            attempt += 1
            async with self._swap:
                if not await self._reconnected():
                    continue
            self._notify(Change(State.CONNECTED))

    async def _reconnected(self) -> bool:
        """Try once. Whatever goes wrong, a fault of ours too, is no reason never to try again."""
        try:
            self._link = await self._opened()
        except NotConnected as problem:
            self._notify(Change(State.RETRY, str(problem)))
            return False
        except Exception as problem:
            log.exception("the attempt to connect failed")
            self._notify(Change(State.RETRY, f"{type(problem).__name__}: {problem}"))
            return False
        self._up.set()
        return True

    async def _until_lost(self, link: Link, attempt: int) -> int:
        """Wait for the end of the link, or of the one that took its place; the number of the next attempt."""
        while True:
            await link.closed.wait()
            async with self._swap:
                if self._link is link or self._link is None:
                    break
                link = self._link
        self._up.clear()
        self._link = None
        self._notify(Change(State.LOST, link.why))
        lived = asyncio.get_running_loop().time() - link.began
        return 0 if lived >= self._settings.backoff.stable else attempt

    def _notify(self, change: Change) -> None:
        for watcher in self._watchers:
            try:
                watcher(change)
            except Exception:
                log.exception("a watcher failed")

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- the port ------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def connected(self) -> bool:
        return self._link is not None and self._link.connected

    @property
    def server_facts(self) -> ServerFacts:
        return self._now().server_facts

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def _now(self) -> Link:
        if self._link is None or not self._link.connected:
            raise Disconnected("there is no connection to the broker")
        return self._link

    async def publish(
        self, subject: str, data: bytes = b"", *, reply: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        await self._now().send(subject, data, reply, headers)

    async def flush(self) -> None:
        await self._now().flush(API_TIMEOUT)

    async def subscribe(
        self,
        subject: str,
        handler: Handler,
        *,
        queue: str = "",
        parallel: int = 1,
        pending: int = MAX_PENDING,
        sender: int | None = None,
    ) -> KeptSubscription:
        sub = KeptSubscription(
            self._spawn,
            self._forget,
            subject,
            handler,
            queue=queue,
            parallel=parallel,
            pending=pending,
            sender=sender,
            watcher=self._notify,
        )
        async with self._swap:
            if self._link is not None and self._link.connected:
                with suppress(Disconnected):
                    await self._link.add(sub)
            self._subs.append(sub)
        return sub

    async def _forget(self, sub: KeptSubscription) -> None:
        if sub in self._subs:
            self._subs.remove(sub)
        if self._link is not None:
            await self._link.drop(sub)

    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        return await self._now().ask(subject, data, timeout, headers)

    async def api(self, verb: str, body: object = None) -> bytes:
        data = b"" if body is None else msgspec.json.encode(body)
        try:
            answer = await self.request(f"{jetstream.API}.{verb}", data, timeout=API_TIMEOUT)
        except NoListener:
            raise NoStream("the broker has no streams, or the stream does not exist") from None
        return answer.data

    async def make_stream(self, stream: Stream, subjects: tuple[str, ...], *, replicas: int = 1) -> None:
        config = jetstream.stream_config(stream, subjects, replicas)
        try:
            found = await self.api(f"STREAM.INFO.{stream.name}")
            if jetstream.differs(found, config):
                jetstream.check(await self.api(f"STREAM.UPDATE.{stream.name}", config))
        except NoStream:
            jetstream.check(await self.api(f"STREAM.CREATE.{stream.name}", config))

    async def stream_state(self, stream: str) -> StreamState:
        return jetstream.read_state(await self.api(f"STREAM.INFO.{stream}"))

    async def subjects(self, stream: str, pattern: str) -> set[str]:
        found: set[str] = set()
        while True:
            query = {"subjects_filter": pattern, "offset": len(found)}
            page, total = jetstream.read_subjects(await self.api(f"STREAM.INFO.{stream}", query))
            found |= page
            if not page or len(found) >= total:
                return found

    async def store(self, subject: str, data: bytes, *, id: str = "", timeout: float = 5.0) -> Stored:
        headers = {jetstream.MESSAGE_ID: id} if id else NO_HEADERS
        try:
            answer = await self.request(subject, data, timeout=timeout, headers=headers)
        except NoListener:
            raise NoStream(f"no stream keeps {subject!r}") from None
        return jetstream.read_stored(answer.data)

    async def last(self, stream: str, subject: str) -> Kept | None:
        return await self._direct(f"{stream}.{subject}", b"")

    async def after(self, stream: str, sequence: int, subject: str) -> Kept | None:
        return await self._direct(stream, msgspec.json.encode({"seq": sequence + 1, "next_by_subj": subject}))

    async def _direct(self, which: str, body: bytes) -> Kept | None:
        try:
            answer = await self.request(f"{jetstream.API}.DIRECT.GET.{which}", body, timeout=API_TIMEOUT)
        except NoListener:
            raise NoStream("the stream does not exist") from None
        if answer.status == jetstream.NOT_FOUND:
            return None
        if answer.status:
            raise BusError(f"the broker answered {answer.status}")
        return jetstream.read_kept(answer.headers, answer.data)

    async def remove(self, stream: str, subject: str) -> None:
        jetstream.check(await self.api(f"STREAM.PURGE.{stream}", {"filter": subject}))

    async def reader(self, options: ReaderOptions) -> StreamReader:
        reader = StreamReader(self, options)
        await reader.make()
        return reader

    async def open_inbox(self) -> Inbox:
        return await self._now().open_inbox()

    async def close_inbox(self, inbox: Inbox) -> None:
        await self._now().close_inbox(inbox)

    async def renew(self) -> None:
        async with self._swap:
            old = self._link
            self._link = await self._opened()
            self._up.set()
        if old is not None:
            await old.retire()

    async def wait_connected(self) -> None:
        await self._up.wait()

    async def close(self) -> None:
        await end(self._keeper)
        if self._link is not None:
            await self._link.retire()
        for task in list(self._tasks):
            await end(task)
