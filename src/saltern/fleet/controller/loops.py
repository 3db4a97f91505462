"""The tasks of a controller: each runs until it is ended, and one that ends by itself ends the process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from saltern.fleet.bus.tasks import end


class Loops:
    """``failed`` is set when a loop has ended by itself, which is a defect."""

    def __init__(self) -> None:
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[Any]] = []

    def spawn(self, name: str, loop: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(loop, name=f"saltern {name}")
        task.add_done_callback(self._on_end)
        self._tasks.append(task)

    def spawn_once(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that ends by itself."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    def _on_end(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and not self.failed.done():
            self.failed.set_exception(task.exception() or RuntimeError(f"{task.get_name()} has ended"))

    async def end_all(self) -> None:
        for task in [*self._tasks]:
            await end(task)
        if not self.failed.done():
            self.failed.cancel()
