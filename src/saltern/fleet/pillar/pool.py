"""Processes that compile pillar: started when the first task comes, ended when they hang or are old."""

from __future__ import annotations

import os

from saltern.fleet.pillar.compile import PillarResult, PillarTask
from saltern.fleet.pillar.process import FAILED, WorkerPool

WORKER = "saltern.fleet.pillar.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 500  # tasks of one process: modules of users may leak


class CompilerPool:
    """A few processes; a task waits if none is free."""

    def __init__(self, size: int = 0, *, limit: float = LIMIT) -> None:
        self._pool = WorkerPool(WORKER, size or min(4, os.cpu_count() or 1), life=LIFE)
        self._limit = limit

    async def compile(self, task: PillarTask) -> PillarResult:
        """The result of a task; a process that hangs or dies is a problem of this task alone."""
        try:
            return await self._pool.exchange(task, PillarResult, limit=self._limit)
        except TimeoutError:
            return PillarResult(
                problem=f"compiling it took longer than {self._limit:.0f} seconds [pillar-slow]"
            )
        except FAILED:
            return PillarResult(problem="the process that compiles it has ended [pillar-failed]")

    async def close(self) -> None:
        await self._pool.close()
