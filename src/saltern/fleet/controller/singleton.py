"""Work that only one controller may do at a time: the holder of the lease, which writes only while it holds
it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, TypeVar

from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.controller.calls import Calls
from saltern.fleet.store.database import Connection
from saltern.fleet.store.leases import give_up, is_current, take
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)
T = TypeVar("T")
P = ParamSpec("P")
SECONDS = 15.0  # seconds of a lease; after a crash another controller takes over when it expires
LAZY = 1.0  # the same, if the last round found nothing to do, and only a hint came
APART = 0.1  # minimum seconds between the starts of two rounds, however often something is stored


class LeaseLost(Exception):
    """Another controller has taken the lease: nothing was written."""


class Hold:
    """A held lease, and writes that succeed only while it is held."""

    def __init__(self, calls: Calls, name: str, fence: int, *, fresh: bool) -> None:
        self.fresh = fresh
        self._calls = calls
        self._name = name
        self._fence = fence

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Read the stored state; this needs no lease."""
        return await self._calls.read(query, *args, **options)

    async def look(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """The same, for a query that finds a row or two."""
        return await self._calls.look(query, *args, **options)

    async def write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """One transaction; ``LeaseLost``, and nothing is written, if another controller has the lease."""

        def write_fenced(connection: Connection) -> T:
            if not is_current(connection, self._name, self._fence):
                raise LeaseLost(self._name)
            return change(connection, *args, **options)

        return await self._calls.write(write_fenced)


class Singleton:
    """Runs ``work`` at intervals on the one controller that holds the lease. Work that returns False has
    found nothing to do.
    """

    def __init__(
        self,
        calls: Calls,
        name: str,
        holder: str,
        work: Callable[[Hold], Awaitable[bool | None]],
        *,
        every: float,
        seconds: float = SECONDS,
    ) -> None:
        self.fence: int | None = None
        self.problem = ""
        self._calls = calls
        self._name = name
        self._holder = holder
        self._work = work
        self._every = every
        self._seconds = seconds
        self._wanted = asyncio.Event()
        self._is_urgent = False
        self._has_work = True
        self._renew_at = 0.0

    def wake(self) -> None:
        """Run the work now, because there is something to do."""
        self._is_urgent = True
        self._wanted.set()

    def hint(self) -> None:
        """Run the work soon: something was stored that may have to do with it. Now, if the last round found
        work, or did not say.
        """
        if self._has_work:
            self._is_urgent = True
        self._wanted.set()

    async def run(self) -> None:
        while True:
            self._wanted.clear()
            self._is_urgent = False
            began = time.monotonic()
            try:
                await self.step()
                self.problem = ""
            except LeaseLost:
                self.fence = None
            except (OperationError, BusError, TimeoutError) as problem:
                self._note(str(problem) or type(problem).__name__)
            await self._rest(began)

    async def _rest(self, began: float) -> None:
        """Until the next round."""
        await is_set_within(self._wanted, self._every)
        await asyncio.sleep(max(0.0, began + APART - time.monotonic()))
        while not self._is_urgent and (left := began + min(LAZY, self._every) - time.monotonic()) > 0:
            self._wanted.clear()
            await is_set_within(self._wanted, left)

    def _note(self, problem: str) -> None:
        """The same problem is in the log once, however often it is met: the disk of the log may be the one
        that is full.
        """
        if problem != self.problem:
            log.warning("%s: %s", self._name, problem)
        self.problem = problem

    async def step(self) -> bool:
        """Take or renew the lease, and do the work if this controller holds it."""
        fresh = False
        if self.fence is None or time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + self._seconds / 3
            fence = await self._calls.write(take, self._name, self._holder, self._seconds)
            fresh, self.fence = fence != self.fence, fence
        fence = self.fence
        if fence is None:
            return False
        self._has_work = await self._work(Hold(self._calls, self._name, fence, fresh=fresh)) is not False
        return True

    async def stop(self) -> None:
        """Release the lease, so that another controller need not wait until it expires."""
        if self.fence is not None:
            with suppress(OperationError):
                await self._calls.write(give_up, self._name, self.fence)
