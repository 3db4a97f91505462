"""A process that works for a controller: a message in, a message out, over its standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from saltern.fleet.pillar.worker import SIZE
from saltern.system import own_program

MOST = 256 << 20
FAILED = (OSError, EOFError, asyncio.IncompleteReadError)  # what ``exchange`` raises for one that has ended


class WorkerProcess:
    """A process that answers messages; its callers must exchange one message after the other."""

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
        out.write(len(data).to_bytes(SIZE) + data)
        await out.drain()
        size = int.from_bytes(await into.readexactly(SIZE))
        if size > MOST:
            raise EOFError
        return await into.readexactly(size)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """Close the input of the process, upon which it ends; kill it if it does not."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
