"""Processes that render reaction files: one that hangs or dies is a problem of its task alone."""

from __future__ import annotations

import asyncio

import msgspec

from saltern.fleet.pillar.process import FAILED, WorkerProcess
from saltern.fleet.reactor.render import RenderResult, RenderTask

WORKER = "saltern.fleet.reactor.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 500  # tasks of one process: modules of users may leak


class RenderPool:
    """A few processes; who finds none free waits."""

    def __init__(self, size: int = 2, *, limit: float = LIMIT) -> None:
        self._free: asyncio.LifoQueue[WorkerProcess | None] = asyncio.LifoQueue()
        for _ in range(size):
            self._free.put_nowait(None)
        self._limit = limit

    async def render(self, task: RenderTask) -> RenderResult:
        """The result of a task; with ``problem`` if its process gave none."""
        process = await self._free.get()
        kept: WorkerProcess | None = None
        try:
            process = process or await WorkerProcess.start(WORKER)
            async with asyncio.timeout(self._limit):
                data = await process.exchange(msgspec.msgpack.encode(task))
            kept = process if process.tasks < LIFE else None
            return msgspec.msgpack.decode(data, type=RenderResult)
        except TimeoutError:
            return RenderResult(problem=f"it took longer than {self._limit:.0f} seconds")
        except (*FAILED, msgspec.DecodeError):
            return RenderResult(problem="its process has ended before it was done")
        finally:
            if process is not None and kept is None:
                process.kill()
                await process.end()
            self._free.put_nowait(kept)

    async def close(self) -> None:
        while not self._free.empty():
            if (process := self._free.get_nowait()) is not None:
                await process.end()
