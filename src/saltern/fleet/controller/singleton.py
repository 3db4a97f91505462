"""Work that only one controller may do at a time: the holder of the lease, which writes only while it holds
it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Concatenate, ParamSpec, TypeVar

from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.controller.calls import Calls
from saltern.fleet.store.database import Connection
from saltern.fleet.store.leases import give_up, has_other, is_current, renew, take
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)
T = TypeVar("T")
P = ParamSpec("P")
SECONDS = 15.0  # seconds of a lease; after a crash another controller takes over when it expires
SOON = 2.0  # seconds before a lease is due in which it is renewed with another one
APART = 0.1  # minimum seconds between the starts of two rounds, however often something is stored
LAZY = 1.0  # the same, if the last round found nothing to do, and only a hint came


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
    found nothing to do. ``beside``: all singletons of this controller, whose leases are renewed with this
    one while they wait for their next round.
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
        beside: Sequence[Singleton] = (),
    ) -> None:
        self.fence: int | None = None
        self.problem = ""
        self._beside = beside
        self._is_fresh = False
        self._waits = False
        self._calls = calls
        self._name = name
        self._holder = holder
        self._work = work
        self._every = every
        self._seconds = seconds
        self._wanted = asyncio.Event()
        self._hinted: asyncio.TimerHandle | None = None
        self._began = 0.0  # when the last round began
        self._has_work = True
        self._renew_at = 0.0

    def wake(self) -> None:
        """Run the work now, because there is something to do."""
        self._wanted.set()

    def hint(self) -> None:
        """Run the work soon: something was stored that may have to do with it. Now, if the last round found
        work, or did not say.
        """
        if self._has_work:
            self.wake()
        elif self._hinted is None and self._every > LAZY:
            left = max(0.0, self._began + LAZY - time.monotonic())
            self._hinted = asyncio.get_running_loop().call_later(left, self.wake)

    async def run(self) -> None:
        while True:
            self._begin_round()
            try:
                await self.step()
                self.problem = ""
            except LeaseLost:
                self.fence = None
            except (OperationError, BusError, TimeoutError) as problem:
                self._note(str(problem) or type(problem).__name__)
            await self._rest()

    def _begin_round(self) -> None:
        if self._hinted is not None:
            self._hinted.cancel()
            self._hinted = None
        self._wanted.clear()
        self._began = time.monotonic()

    async def _rest(self) -> None:
        """Until the next round."""
        self._waits = True
        try:
            await is_set_within(self._wanted, self._every)
            await asyncio.sleep(max(0.0, self._began + APART - time.monotonic()))
        finally:
            self._waits = False

    def _note(self, problem: str) -> None:
        """The same problem is in the log once, however often it is met: the disk of the log may be the one
        that is full.
        """
        if problem != self.problem:
            log.warning("%s: %s", self._name, problem)
        self.problem = problem

    async def step(self) -> bool:
        """Take or renew the lease, and do the work if this controller holds it."""
        if self.fence is None:
            if await self._calls.look(has_other, self._name, self._holder, self._seconds):
                return False
            await self._renew([])
        elif time.monotonic() >= self._renew_at:
            await self._renew([one for one in self._beside if one is not self and one._is_due_soon()])
        fence, fresh = self.fence, self._is_fresh
        if fence is None:
            return False
        self._is_fresh = False
        self._has_work = await self._work(Hold(self._calls, self._name, fence, fresh=fresh)) is not False
        return True

    def _is_due_soon(self) -> bool:
        """True if it waits with a lease, of which a part of the time is over. One that works renews its lease
        itself, so that work that hangs loses it.
        """
        return self._waits and self.fence is not None and time.monotonic() >= self._renew_at - SOON

    async def _renew(self, others: Sequence[Singleton]) -> None:
        """Take or renew the lease, and renew those of others in the same transaction."""
        began = time.monotonic()
        some = {one._name: one for one in (self, *others)}
        seconds = {name: one._seconds for name, one in some.items()}
        for name, fence in (await self._calls.write(_take, self._name, seconds, self._holder)).items():
            some[name]._keep(fence, began)

    def _keep(self, fence: int | None, began: float) -> None:
        self._renew_at = began + self._seconds / 3
        self._is_fresh = self._is_fresh or fence != self.fence
        self.fence = fence

    async def stop(self) -> None:
        """Release the lease, so that another controller need not wait until it expires."""
        if self.fence is not None:
            with suppress(OperationError):
                await self._calls.write(give_up, self._name, self.fence)


def _take(
    connection: Connection, name: str, seconds: Mapping[str, float], holder: str
) -> dict[str, int | None]:
    """Take one lease, and renew the others."""
    own = take(connection, name, holder, seconds[name])
    others = {other: long for other, long in seconds.items() if other != name}
    return {**renew(connection, others, holder), name: own}
