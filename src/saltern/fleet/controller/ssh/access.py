"""The order of jobs on a host, and when to try again to reach a host."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from saltern.fleet.bus.repeat import is_set_within

STEPS = (5.0, 10.0, 20.0, 40.0, 60.0)  # seconds between attempts at a host that is away
SPREAD = 0.2


def pause_after(failures: int) -> float:
    """Seconds until the next attempt after this number of failures in a row."""
    return STEPS[min(failures, len(STEPS)) - 1] if failures > 0 else 0.0


class HostAccess:
    """One host. Jobs that change something take turns; read-only jobs do not wait for them."""

    def __init__(self) -> None:
        self.failures = 0
        self._due = 0.0
        self._turn = asyncio.Lock()
        self._trial: object = None  # held by the one attempt while the host is away
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def turn(self, *, changing: bool) -> AsyncIterator[None]:
        """Wait for the caller's turn, in the order of the calls."""
        if not changing:
            yield
            return
        async with self._turn:
            yield

    @asynccontextmanager
    async def trial(self) -> AsyncIterator[None]:
        """Wait until an attempt is due. While the host is away, one attempt at a time stands for all."""
        mine = object()
        while self.failures and not self._take(mine):
            await self._until_change()
        try:
            yield
        finally:
            if self._trial is mine:
                self._settle()

    def _take(self, mine: object) -> bool:
        if self._trial is not None or not self.is_due:
            return False
        self._trial = mine
        return True

    async def _until_change(self) -> None:
        wait = None if self._trial is not None else self._due - asyncio.get_running_loop().time()
        self._changed.clear()
        await is_set_within(self._changed, wait)

    def hurry(self) -> None:
        """Try now, because there is a new job."""
        self._due = 0.0
        self._changed.set()

    def reached(self) -> None:
        self.failures, self._due = 0, 0.0
        self._settle()

    def failed(self) -> None:
        self.failures += 1
        spread = random.uniform(1 - SPREAD, 1 + SPREAD)
        self._due = asyncio.get_running_loop().time() + pause_after(self.failures) * spread
        self._settle()

    def _settle(self) -> None:
        self._trial = None
        self._changed.set()

    @property
    def is_due(self) -> bool:
        """True if an attempt would not have to wait."""
        return asyncio.get_running_loop().time() >= self._due
