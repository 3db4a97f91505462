"""A channel that is a process of this machine: ssh, or a shell."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress

from saltern.fleet.ssh.transport.ports import MOST_ERRORS, Ended

BUFFER = 1024 * 1024


class ProcessChannel:
    """Input, output and errors of a child. ``secret`` is a handle that is closed once the child is let in."""

    def __init__(self, process: Process, secret: int | None = None) -> None:
        self._process = process
        self._secret = secret
        self._errors = bytearray()
        self._changed = asyncio.Event()
        self._reader = asyncio.create_task(self._collect())

    async def _collect(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while data := await stream.read(65_536):
            self._errors += data
            del self._errors[:-MOST_ERRORS]
            self._changed.set()
        self._changed.set()

    async def read(self, most: int) -> bytes:
        assert self._process.stdout is not None
        data = await self._process.stdout.read(most)
        self._forget_secret()
        return data

    def _forget_secret(self) -> None:
        if self._secret is not None:
            os.close(self._secret)
            self._secret = None

    async def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # what became of it is said by wait()
            self._process.stdin.write(data)
            await self._process.stdin.drain()

    async def end_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def wait(self) -> Ended:
        code = await self._process.wait()
        await self._reader
        self._forget_secret()
        return Ended(code if code >= 0 else None, self.errors())

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._reader.cancel()
        self._forget_secret()

    def errors(self) -> str:
        return self._errors.decode("utf-8", "replace")

    async def until_errors(self, text: str) -> None:
        while text not in self.errors() and not self._reader.done():
            self._changed.clear()
            waiter = asyncio.create_task(self._changed.wait())
            await asyncio.wait({waiter, self._reader}, return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()


async def start(argv: Sequence[str], environ: Mapping[str, str], secret: int | None = None) -> ProcessChannel:
    """Start a program with three pipes, in a session of its own: Ctrl-C is ours to answer."""
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environ), start_new_session=True, limit=BUFFER
    )
    return ProcessChannel(process, secret)
