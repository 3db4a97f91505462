"""Health checks that run on the controller: commands of its configuration, by name.

A person who may start a run may name one of them, but not define it. A check changes nothing: one that was
cut short, because its controller ended or lost its lease, is started again.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from saltern.fleet.chains.events import Checked
from saltern.fleet.chains.model import HealthCheck
from saltern.fleet.chains.waves import systems_to_check
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.decisions import Decisions
from saltern.fleet.controller.chains.health import to_ask
from saltern.fleet.controller.singleton import Hold, LeaseLost
from saltern.fleet.store.database import Connection

Commands = Mapping[str, tuple[str, ...]]
HERE = "the controller"
PART = 64_000  # bytes of a check's output that are kept
LINE = 200


class Look(Struct, frozen=True):
    """One check that is due."""

    run: str
    wave: int
    check: HealthCheck
    systems: tuple[str, ...]


class OwnChecks:
    """Starts the checks that are due, and collects their results."""

    def __init__(self, calls: Calls, commands: Commands) -> None:
        self.commands = commands
        self._calls = calls
        self._running: dict[tuple[str, int], asyncio.Task[str]] = {}

    def forget(self) -> None:
        """End running checks: the controller that holds the lease now starts them again."""
        while self._running:
            self._running.popitem()[1].cancel()

    async def look(self, hold: Hold, now: float) -> None:
        """One round, without waiting."""
        due = {(one.run, one.wave): one for one in await self._calls.read(due_checks)}
        for key in [key for key in self._running if key not in due]:
            self._running.pop(key).cancel()
        for key, one in due.items():
            if key not in self._running:
                self._running[key] = asyncio.create_task(run_check(self.commands, one))
        for key, task in [pair for pair in self._running.items() if pair[1].done()]:
            try:
                await hold.write(_note, due[key], task.result(), now)
            except LeaseLost:
                self.forget()
                raise
            del self._running[key]


def due_checks(connection: Connection) -> list[Look]:
    """The checks of the controller that waves wait for."""
    found: list[Look] = []
    for run, number in to_ask(connection):
        state = Decisions().load(connection, run)[1]
        check = state.strategy.health
        if check is not None and check.check:
            found.append(Look(run, number, check, tuple(systems_to_check(state, state.waves[number]))))
    return found


def _note(connection: Connection, look: Look, problem: str, now: float) -> None:
    failed = {HERE: problem} if problem else {}
    event = Checked(now=now, wave=look.wave, failed=failed, of=1)
    Decisions().decide(connection, look.run, lambda _run: [event])


async def run_check(commands: Commands, look: Look) -> str:
    """Run the command of a check; return why it failed, or empty."""
    command = commands.get(look.check.check)
    if not command:
        return f"this controller has no check {look.check.check!r}"
    env = os.environ | {
        "SALTERN_RUN": look.run,
        "SALTERN_WAVE": str(look.wave + 1),
        "SALTERN_SYSTEMS": " ".join(look.systems),
    }
    pipe, none = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=none,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT,
            env=env,
            start_new_session=True,
        )
    except OSError as problem:
        return f"{command[0]}: {problem.strerror}"
    return await _wait_for_end(process, look.check.timeout)


async def _wait_for_end(process: asyncio.subprocess.Process, timeout: float) -> str:
    """How the command ended; none of its processes are left behind."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(timeout):
            said = await _last_part(process.stdout)
            code = await process.wait()
    except TimeoutError:
        return f"it has not ended within {timeout:g} seconds"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return f"exit code {code}" + (f": {lines[-1][:LINE]}" if lines else "") if code else ""


async def _last_part(stream: asyncio.StreamReader) -> bytes:
    """The end of the output; all of it is read, so that a command with much output does not block."""
    kept = b""
    while part := await stream.read(PART):
        kept = (kept + part)[-PART:]
    return kept
