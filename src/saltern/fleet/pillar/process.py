"""A process that works for a controller: a message in, a message out, over its standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TypeVar

import msgspec

from saltern.fleet.child_input import write_input
from saltern.fleet.pillar.worker import SIZE
from saltern.system import own_program

MOST = 256 << 20
# What ``exchange`` raises for a process that has ended, or has answered nonsense.
FAILED = (OSError, EOFError, asyncio.IncompleteReadError, msgspec.DecodeError)

A = TypeVar("A")


class WorkerProcess:
    """A process that answers messages; its callers must exchange one message at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.tasks = 0

    @classmethod
    async def start(cls, module: str) -> WorkerProcess:
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *own_program.command(module),
                stdin=pipe,
                stdout=pipe,
                env=own_program.environment(),
                cwd="/",
                start_new_session=True,
            )
        )

    async def exchange(self, data: bytes) -> bytes:
        """Send a message, and return the answer. Raises one of ``FAILED`` if the process has ended."""
        self.tasks += 1
        out, into = self._process.stdin, self._process.stdout
        assert out is not None and into is not None
        await write_input(out, len(data).to_bytes(SIZE) + data)
        size = int.from_bytes(await into.readexactly(SIZE))
        if size > MOST:
            raise EOFError
        return await into.readexactly(size)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """Close the input of the process, which ends it; kill it if it does not end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()


class WorkerSlot:
    """The place of one process: started for its first task, and replaced once it hangs, has ended or is old.

    ``life`` is the number of tasks of one process: modules of users may leak.
    """

    def __init__(self, module: str, *, life: int) -> None:
        self._module, self._life = module, life
        self._process: WorkerProcess | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    async def exchange(self, task: msgspec.Struct, answer: type[A], *, limit: float) -> A:
        """The answer to a task, within so many seconds. Raises ``TimeoutError``, or one of ``FAILED``."""
        kept = False
        try:
            process = self._process = self._process or await WorkerProcess.start(self._module)
            async with asyncio.timeout(limit):
                data = await process.exchange(msgspec.msgpack.encode(task))
            found = msgspec.msgpack.decode(data, type=answer)
            kept = process.tasks < self._life
            return found
        finally:
            if not kept:
                await self._discard()

    async def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await process.end()

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()


class WorkerPool:
    """A few processes; who finds none free waits. A process that fails is a problem of its task alone."""

    def __init__(self, module: str, size: int, *, life: int) -> None:
        self._free: asyncio.LifoQueue[WorkerSlot] = asyncio.LifoQueue()
        for _ in range(size):
            self._free.put_nowait(WorkerSlot(module, life=life))

    async def exchange(self, task: msgspec.Struct, answer: type[A], *, limit: float) -> A:
        """As that of a slot."""
        slot = await self._free.get()
        try:
            return await slot.exchange(task, answer, limit=limit)
        finally:
            self._free.put_nowait(slot)

    async def close(self) -> None:
        while not self._free.empty():
            await self._free.get_nowait().close()
