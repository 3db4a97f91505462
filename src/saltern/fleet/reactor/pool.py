"""Processes that render reaction files: one that hangs or dies fails only its own task."""

from __future__ import annotations

from saltern.fleet.pillar.process import FAILED, WorkerPool
from saltern.fleet.reactor.render import RenderResult, RenderTask

WORKER = "saltern.fleet.reactor.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 500  # tasks of one process: modules of users may leak


class RenderPool:
    """A few processes; a task waits if none is free."""

    def __init__(self, size: int = 2, *, limit: float = LIMIT) -> None:
        self._pool = WorkerPool(WORKER, size, life=LIFE)
        self._limit = limit

    async def render(self, task: RenderTask) -> RenderResult:
        """The result of a task; with ``problem`` if its process gave none."""
        try:
            return await self._pool.exchange(task, RenderResult, limit=self._limit)
        except TimeoutError:
            return RenderResult(problem=f"it took longer than {self._limit:.0f} seconds")
        except FAILED:
            return RenderResult(problem="its process has ended before it was done")

    async def close(self) -> None:
        await self._pool.close()
