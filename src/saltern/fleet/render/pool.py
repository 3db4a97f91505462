"""Processes that render: each has the sessions of some runs, so a run is always answered by the same one."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Collection

import msgspec

from saltern.fleet.pillar.process import FAILED, WorkerSlot
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
        """The result of a task; a process that hangs or dies fails only this task."""
        return await self._slots[zlib.crc32(task.key.encode()) % len(self._slots)].render(task)

    async def discard(self, runs: Collection[str]) -> None:
        """Have the processes discard the state of ended runs, by the prefixes of their keys."""
        task = RenderTask(key="", question=b"", name="", ended=list(runs))
        for slot in self._slots:
            if runs and slot.is_running:
                await slot.render(task)

    async def close(self) -> None:
        for slot in self._slots:
            await slot.close()


class _Slot:
    """One process, and whose turn it is."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._turn = asyncio.Lock()
        self._worker = WorkerSlot(WORKER, life=LIFE)

    @property
    def is_running(self) -> bool:
        return self._worker.is_running

    async def render(self, task: RenderTask) -> RenderResult:
        async with self._turn:
            try:
                return await self._worker.exchange(task, RenderResult, limit=self._limit)
            except TimeoutError:
                return _problem("render-slow", f"rendering it took longer than {self._limit:.0f} seconds")
            except FAILED:
                return _problem("render-failed", "the process that renders it has ended")

    async def close(self) -> None:
        async with self._turn:
            await self._worker.close()


def _problem(code: str, what: str) -> RenderResult:
    return RenderResult(sent=msgspec.msgpack.encode(Sent(problems=[SentProblem(code, what)])), detail=what)
