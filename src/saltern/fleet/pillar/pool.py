"""Processes that compile pillar: started when the first task comes, ended when they hang or are old."""

from __future__ import annotations

import asyncio
import os

import msgspec

from saltern.fleet.pillar.compile import PillarResult, PillarTask
from saltern.fleet.pillar.process import FAILED, WorkerProcess

WORKER = "saltern.fleet.pillar.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 500  # tasks of one process: modules of users may leak


class CompilerPool:
    """A few processes; who finds none free waits."""

    def __init__(self, size: int = 0, *, limit: float = LIMIT) -> None:
        self._free: asyncio.LifoQueue[WorkerProcess | None] = asyncio.LifoQueue()
        for _ in range(size or min(4, os.cpu_count() or 1)):
            self._free.put_nowait(None)
        self._limit = limit

    async def compile(self, task: PillarTask) -> PillarResult:
        """The result of a task; a process that hangs or dies is a problem of this task alone."""
        process = await self._free.get()
        kept: WorkerProcess | None = None
        try:
            process = process or await WorkerProcess.start(WORKER)
            async with asyncio.timeout(self._limit):
                result = msgspec.msgpack.decode(
                    await process.exchange(msgspec.msgpack.encode(task)), type=PillarResult
                )
            kept = process if process.tasks < LIFE else None
            return result
        except TimeoutError:
            return PillarResult(
                problem=f"compiling it took longer than {self._limit:.0f} seconds [pillar-slow]"
            )
        except (*FAILED, msgspec.DecodeError):
            return PillarResult(problem="the process that compiles it has ended [pillar-failed]")
        finally:
            if process is not None and kept is None:
                process.kill()
            self._free.put_nowait(kept)

    async def close(self) -> None:
        while not self._free.empty():
            if (process := self._free.get_nowait()) is not None:
                await process.end()
