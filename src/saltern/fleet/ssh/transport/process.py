"""A channel that is a process of this machine: ssh, or a shell."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress

from saltern.fleet.child_input import write_input
from saltern.fleet.ssh.transport.ports import MOST_ERRORS, Ended

BUFFER = 1024 * 1024
SOME = 65_536


class Errors:
    """The standard error of a child. A connection that ssh keeps holds it open for longer than the child
    lives, so its end does not show the end of the child.
    """

    def __init__(self) -> None:
        self._read, self.write_end = os.pipe()
        self._data = bytearray()
        self._changed = asyncio.Event()
        os.set_blocking(self._read, False)

    def listen(self) -> None:
        """Start listening, after the child has inherited its end."""
        os.close(self.write_end)
        asyncio.get_running_loop().add_reader(self._read, self._take)

    def _take(self) -> None:
        with suppress(BlockingIOError):
            while data := os.read(self._read, SOME):
                self._data += data
                del self._data[:-MOST_ERRORS]
            asyncio.get_running_loop().remove_reader(self._read)
        self._changed.set()

    def close(self) -> None:
        """Take what is there, and listen no longer."""
        if self._read >= 0:
            self._take()
            asyncio.get_running_loop().remove_reader(self._read)
            os.close(self._read)
            self._read = -1

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    async def until(self, text: str) -> None:
        while text not in self.text:
            self._changed.clear()
            await self._changed.wait()


class ProcessChannel:
    """Input, output and errors of a child. ``secret`` is a handle that is closed once the child is let in."""

    def __init__(self, process: Process, errors: Errors, secret: int | None = None) -> None:
        self._process = process
        self._errors = errors
        self._secret = secret

    async def read(self, most: int) -> bytes:
        assert self._process.stdout is not None
        data = await self._process.stdout.read(most)
        self._forget_secret()
        return data

    def _forget_secret(self) -> None:
        if self._secret is not None:
            os.close(self._secret)
            self._secret = None

    async def write(self, data: bytes | memoryview) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # wait() reports the result
            await write_input(self._process.stdin, data)

    async def end_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def wait(self) -> Ended:
        code = await self._process.wait()
        self._close()
        return Ended(code if code >= 0 else None, self.errors())

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._close()

    def _close(self) -> None:
        """Close our ends. asyncio closes its own once it has read to the end, which may be after its loop."""
        self._errors.close()
        self._forget_secret()
        self._process._transport.close()  # type: ignore[attr-defined]

    def errors(self) -> str:
        return self._errors.text

    async def until_errors(self, text: str) -> None:
        await self._errors.until(text)


async def start(argv: Sequence[str], environ: Mapping[str, str], secret: int | None = None) -> ProcessChannel:
    """Start a program with three pipes, in its own session: this process handles Ctrl-C."""
    errors = Errors()
    made = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=errors.write_end,
            env=dict(environ),
            start_new_session=True,
            limit=BUFFER,
        )
    )
    try:
        process = await asyncio.shield(made)  # asyncio may wait for ever if it is cancelled in there
    except BaseException as problem:
        if isinstance(problem, asyncio.CancelledError):
            await _end(made)
        os.close(errors.write_end)
        errors.close()
        raise
    errors.listen()
    return ProcessChannel(process, errors, secret)


async def _end(made: asyncio.Future[Process]) -> None:
    """End a child whose start was cancelled."""
    with suppress(OSError):
        process = await made
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
