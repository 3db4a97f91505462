"""The asyncio tasks that follow jobs: one for each job."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from saltern.fleet.bus.tasks import end

log = logging.getLogger(__name__)


class JobTasks:
    """``ended`` is called after the end of each task."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._on_end = ended

    @property
    def names(self) -> Collection[str]:
        return self._tasks.keys()

    def spawn(self, jid: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks[jid] = task
        task.add_done_callback(lambda _done: self._ended(jid, task))

    def _ended(self, jid: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(jid) is task:
            del self._tasks[jid]
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("job %s: %s", jid, problem, exc_info=problem)
        self._on_end()

    async def end(self) -> None:
        for task in list(self._tasks.values()):
            await end(task)
