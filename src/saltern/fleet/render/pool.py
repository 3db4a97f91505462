"""Processes that render: each has the sessions of some runs, so a run is always answered by the same one."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Collection

import msgspec

from saltern.fleet.pillar.process import FAILED, WorkerProcess
from saltern.fleet.render.task import RenderResult, RenderTask
from saltern.render.remote import Sent, SentProblem

WORKER = "saltern.fleet.render.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 20_000  # tasks of one process: renderers of users may leak


class RenderPool:
    """A few processes, each started when its first task comes."""

    def __init__(self, size: int = 0, *, limit: float = LIMIT) -> None:
        count = size or max(1, min(4, os.cpu_count() or 1))
        self._slots = [_Slot(limit) for _ in range(count)]

    async def render(self, task: RenderTask) -> RenderResult:
        """The result of a task; a process that hangs or dies is a problem of this task alone."""
        return await self._slots[zlib.crc32(task.key.encode()) % len(self._slots)].render(task)

    async def discard(self, runs: Collection[str]) -> None:
        """Have the processes forget what they know of runs that have ended, by how their keys begin."""
        task = RenderTask(key="", question=b"", name="", ended=list(runs))
        for slot in self._slots:
            if runs and slot.is_running:
                await slot.render(task)

    async def close(self) -> None:
        for slot in self._slots:
            await slot.close()


class _Slot:
    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._turn = asyncio.Lock()
        self._process: WorkerProcess | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    async def render(self, task: RenderTask) -> RenderResult:
        async with self._turn:
            kept = False
            try:
                self._process = self._process or await WorkerProcess.start(WORKER)
                async with asyncio.timeout(self._limit):
                    data = await self._process.exchange(msgspec.msgpack.encode(task))
                result = msgspec.msgpack.decode(data, type=RenderResult)
                kept = self._process.tasks < LIFE
                return result
            except TimeoutError:
                return _problem("render-slow", f"rendering it took longer than {self._limit:.0f} seconds")
            except (*FAILED, msgspec.DecodeError):
                return _problem("render-failed", "the process that renders it has ended")
            finally:
                if not kept and self._process is not None:
                    self._process.kill()
                    self._process = None

    async def close(self) -> None:
        async with self._turn:
            if self._process is not None:
                await self._process.end()
                self._process = None


def _problem(code: str, what: str) -> RenderResult:
    return RenderResult(sent=msgspec.msgpack.encode(Sent(problems=[SentProblem(code, what)])), detail=what)
