"""Runners that a controller starts: each in a process of its own, a few at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from saltern.fleet.bus.tasks import Tasks
from saltern.fleet.child_input import write_input
from saltern.fleet.controller.hub import Hub
from saltern.fleet.reactor.calls import RunnerAnswer, RunnerCall
from saltern.system import own_program

PROGRAM = "saltern.cli.reaction"
AT_ONCE = 10  # processes
SHOWN = 100_000  # bytes of a value that its event shows


class RunnerProcesses:
    """Starts them, and reports the answer of each."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks = Tasks()

    def begin(
        self, call: RunnerCall, secret: Callable[[], str], ended: Callable[[RunnerAnswer], Awaitable[None]]
    ) -> None:
        """Have one run, without waiting for its end. It asks the controller with ``secret``."""
        self._hub.wake()
        self._tasks.spawn(self._run(call, secret, ended))

    async def _run(
        self, call: RunnerCall, secret: Callable[[], str], ended: Callable[[RunnerAnswer], Awaitable[None]]
    ) -> None:
        async with self._room:
            answer = await exchange(call, secret())
        await ended(answer)
        self._hub.wake()

    async def settle(self) -> None:
        """Return when all have ended."""
        await self._tasks.settle()

    async def close(self) -> None:
        await self._tasks.end()


def end_data(answer: RunnerAnswer) -> dict[str, object]:
    """What came of a runner, as its event has it."""
    return {"return": answer.problem or _limit_size(answer.value), "success": not answer.problem}


def _limit_size(value: object) -> object:
    return value if len(msgspec.json.encode(value)) <= SHOWN else "too large to be shown"


async def exchange(call: RunnerCall, secret: str, program: str = PROGRAM) -> RunnerAnswer:
    """Run one to its end; one that is not waited for any more is ended."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *own_program.command(program),
        stdin=pipe,
        stdout=pipe,
        env=own_program.environment(SALTERN_TOKEN=secret),
        cwd="/",
        start_new_session=True,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended: its answer is missing
            await write_input(process.stdin, msgspec.json.encode(call))
        process.stdin.close()
        out = await process.stdout.read()
        await process.wait()
        return msgspec.json.decode(out, type=RunnerAnswer)
    except msgspec.DecodeError:
        return RunnerAnswer(problem=f"its process has ended with {process.returncode}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
