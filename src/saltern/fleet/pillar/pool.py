"""Processes that compile pillar: started when the first task comes, ended when they hang or are old."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

import msgspec

from saltern.fleet.pillar.compile import PillarResult, PillarTask
from saltern.fleet.pillar.worker import SIZE
from saltern.system import own_program

WORKER = "saltern.fleet.pillar.worker"
LIMIT = 60.0  # seconds of one task
LIFE = 500  # tasks of one process: modules of users may leak
MOST = 256 << 20


class CompilerPool:
    """A few processes; who finds none free waits."""

    def __init__(self, size: int = 0, *, limit: float = LIMIT) -> None:
        self._free: asyncio.LifoQueue[_Process | None] = asyncio.LifoQueue()
        for _ in range(size or min(4, os.cpu_count() or 1)):
            self._free.put_nowait(None)
        self._limit = limit

    async def compile(self, task: PillarTask) -> PillarResult:
        """The result of a task; a process that hangs or dies is a problem of this task alone."""
        process = await self._free.get()
        kept: _Process | None = None
        try:
            process = process or await _Process.start()
            async with asyncio.timeout(self._limit):
                result = await process.compile(task)
            kept = process if process.tasks < LIFE else None
            return result
        except TimeoutError:
            return PillarResult(
                problem=f"compiling it took longer than {self._limit:.0f} seconds [pillar-slow]"
            )
        except (OSError, EOFError, asyncio.IncompleteReadError, msgspec.DecodeError):
            return PillarResult(problem="the process that compiles it has ended [pillar-failed]")
        finally:
            if process is not None and kept is None:
                process.kill()
            self._free.put_nowait(kept)

    async def close(self) -> None:
        while not self._free.empty():
            if (process := self._free.get_nowait()) is not None:
                await process.end()


class _Process:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.tasks = 0

    @classmethod
    async def start(cls) -> _Process:
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *own_program.command(WORKER),
                stdin=pipe,
                stdout=pipe,
                env=own_program.environment(),
                cwd="/",
                start_new_session=True,
            )
        )

    async def compile(self, task: PillarTask) -> PillarResult:
        self.tasks += 1
        out, into = self._process.stdin, self._process.stdout
        assert out is not None and into is not None
        data = msgspec.msgpack.encode(task)
        out.write(len(data).to_bytes(SIZE) + data)
        await out.drain()
        size = int.from_bytes(await into.readexactly(SIZE))
        if size > MOST:
            raise EOFError
        return msgspec.msgpack.decode(await into.readexactly(size), type=PillarResult)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """It ends by itself when its input does; one that does not is killed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
