"""Ends tasks reliably."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

AGAIN = 0.2  # seconds


async def end(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task, and return when it has ended.

    One cancellation is not enough: ``asyncio.wait_for`` of Python 3.11, which the client library uses, loses
    one that arrives just when it has a result.
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN)
    if task is not None and not task.cancelled():
        task.exception()


class Tasks:
    """Holds tasks until they end or are ended."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def settle(self) -> None:
        """Return when all have ended by themselves."""
        await asyncio.gather(*self._running)

    async def end(self) -> None:
        for task in list(self._running):
            await end(task)
