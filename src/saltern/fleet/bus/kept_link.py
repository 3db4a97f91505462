"""Keeps a connection to the broker: makes one link after another, and subscribes again on each."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from itertools import count

from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.nats import Link
from saltern.fleet.bus.ports import (
    BusError,
    Change,
    Disconnected,
    NotConnected,
    NotPermitted,
    State,
    Watcher,
)
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.bus.tasks import end

log = logging.getLogger(__name__)


class KeptLink:
    """``link`` is the current link; ``up`` is set while there is one. Each change is reported."""

    def __init__(self, settings: Connection) -> None:
        self.settings = settings
        self.link: Link | None = None
        self.up = asyncio.Event()
        self.watchers: list[Watcher] = []
        self._subs: list[KeptSubscription] = []
        self._keeper: asyncio.Task[None] | None = None
        self._turn = count()
        self._swap = asyncio.Lock()

    async def begin(self, wait: float | None) -> None:
        """Connect, and stay connected; with ``wait``, the first connection must be made within that time."""
        if wait is not None:
            self.link = await self._first(wait)
            self.up.set()
        self._keeper = asyncio.create_task(self._keep())

    async def _first(self, wait: float) -> Link:
        problems: dict[str, None] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                for _ in self.settings.servers:
                    try:
                        return await self._open_link()
                    except NotConnected as problem:
                        problems[str(problem)] = None
        raise NotConnected("; ".join(problems) or f"no answer from {', '.join(self.settings.servers)}")

    async def _open_link(self) -> Link:
        """A new link to the next server of the list, with all subscriptions."""
        servers = self.settings.servers
        link = Link(self.settings, self.notify)
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
            if self.link is not None:
                attempt = await self._until_lost(self.link, attempt)
            await asyncio.sleep(self.settings.backoff.delay(attempt))
            attempt += 1
            async with self._swap:
                if not await self._reconnected():
                    continue
            self.notify(Change(State.CONNECTED))

    async def _reconnected(self) -> bool:
        """Try once to connect. Any error, even a defect of saltern, must not end the attempts."""
        try:
            self.link = await self._open_link()
        except NotConnected as problem:
            self.notify(Change(State.RETRY, str(problem)))
            return False
        except Exception as problem:
            log.exception("the attempt to connect failed")
            self.notify(Change(State.RETRY, f"{type(problem).__name__}: {problem}"))
            return False
        self.up.set()
        return True

    async def _until_lost(self, link: Link, attempt: int) -> int:
        """Wait for the end of the link, or of its replacement; return the number of the next attempt."""
        while True:
            await link.closed.wait()
            async with self._swap:
                if self.link is link or self.link is None:
                    break
                link = self.link
        self.up.clear()
        self.link = None
        self.notify(Change(State.LOST, link.why))
        lived = asyncio.get_running_loop().time() - link.began
        return 0 if lived >= self.settings.backoff.stable else attempt

    def notify(self, change: Change) -> None:
        """Report a change to all watchers."""
        for watcher in self.watchers:
            try:
                watcher(change)
            except Exception:
                log.exception("a watcher failed")

    def now(self) -> Link:
        """The current link. Raises ``Disconnected`` if there is none."""
        if self.link is None or not self.link.connected:
            raise Disconnected("there is no connection to the broker")
        return self.link

    async def add(self, sub: KeptSubscription) -> None:
        """Subscribe on this link and on each later one."""
        async with self._swap:
            if self.link is not None and self.link.connected:
                with suppress(Disconnected):
                    await self.link.add(sub)
            self._subs.append(sub)

    async def forget(self, sub: KeptSubscription) -> None:
        """Drop a subscription."""
        if sub in self._subs:
            self._subs.remove(sub)
        if self.link is not None:
            await self.link.drop(sub)

    async def renew(self) -> None:
        """Replace the link by a new one."""
        async with self._swap:
            old = self.link
            self.link = await self._open_link()
            self.up.set()
        if old is not None:
            await old.retire()

    async def end(self) -> None:
        await end(self._keeper)
        if self.link is not None:
            await self.link.retire()
