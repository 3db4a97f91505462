"""Workers: started outside the agent's control group, followed to their end, found by the next agent.

The kernel reports the end of a worker (through a pidfd), even if an earlier agent started it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from saltern.fleet.agent.recovery import Trace
from saltern.fleet.agent.scope_names import scope_of
from saltern.fleet.agent.task import JobFolder, Outcome, Task
from saltern.fleet.agent.warm import WarmWorker
from saltern.fleet.bus.process_end import until_ended
from saltern.system import atomic, own_program

GRACE = 10.0  # seconds between the request to end and the end by force
WORKER = "saltern.cli.worker_program"


class Runner(Protocol):
    """Runs jobs in workers."""

    async def work(self, task: Task) -> Outcome | None:
        """Start a worker, and return when it has ended; None if it left no outcome."""
        ...

    async def follow(self, jid: str) -> Outcome | None:
        """The same, for a worker that is running already."""
        ...

    def trace(self, jid: str) -> Trace:
        """What is known about a worker that an earlier agent started."""
        ...

    def folder(self, jid: str) -> JobFolder: ...

    async def cancel(self, jid: str, *, hard: bool, why: str = "") -> None:
        """Ask a worker to end: before its next state, or now."""
        ...


class ProcessRunner:
    """One process for each job: a fork of the warm worker, or a program of its own where an earlier attempt
    has failed. ``wrap`` puts a command into its own control group.
    """

    def __init__(self, jobs: str, wrap: Callable[[str, Sequence[str]], list[str]] | None = None) -> None:
        self._jobs = jobs
        self._wrap = wrap or usual_wrap()
        self.warm = WarmWorker(self._wrap, scoped=self._wrap is in_scope)

    def folder(self, jid: str) -> JobFolder:
        return JobFolder(os.path.join(self._jobs, jid))

    def trace(self, jid: str) -> Trace:
        folder = self.folder(jid)
        outcome = folder.outcome()
        return Trace(
            alive=bool(folder.lock.holder()),
            ended=outcome is not None,
            begun=folder.last_attempt(),
            paused=folder.read_pause().kind,
        )

    async def work(self, task: Task) -> Outcome | None:
        folder = self.folder(task.jid)
        folder.prepare(task)
        if pid := await self.warm.fork(folder.path) if self._may_fork(task) else 0:
            await until_ended(pid)
        if folder.last_attempt() < task.attempt:
            child = self._start(folder, task)
            await until_ended(child.pid)
            child.wait()
        return await self.follow(task.jid)

    def _may_fork(self, task: Task) -> bool:
        """True if the warm worker may do it: what goes wrong there is tried in another way."""
        return task.asks or not task.again

    def _start(self, folder: JobFolder, task: Task) -> subprocess.Popen[bytes]:
        command = own_program.command(WORKER, (folder.path,))
        errors = os.open(folder.file("err"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return subprocess.Popen(
                self._wrap(task.jid, command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                cwd="/",
                env=own_program.environment(),
            )
        finally:
            os.close(errors)

    async def follow(self, jid: str) -> Outcome | None:
        folder = self.folder(jid)
        while pid := folder.lock.holder():
            await until_ended(pid)
        return folder.outcome()

    async def close(self) -> None:
        """End what is kept ready; workers continue."""
        await self.warm.end()

    async def cancel(self, jid: str, *, hard: bool, why: str = "") -> None:
        folder = self.folder(jid)
        with suppress(FileNotFoundError):
            atomic.write(folder.file("cancel"), why.encode(), durable=False)
        if not (hard or folder.is_call()) or not (pid := folder.lock.holder()):
            return
        _signal(pid, signal.SIGINT)  # like Ctrl-C by a user: its child programs also end
        if not hard:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await until_ended(pid)
        if folder.lock.holder() == pid:
            _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def usual_wrap() -> Callable[[str, Sequence[str]], list[str]]:
    """As root under systemd, each worker gets a scope; otherwise only its own session."""
    systemd = os.path.isdir("/run/systemd/system") and os.geteuid() == 0
    return in_scope if systemd else lambda _jid, command: list(command)


def in_scope(jid: str, command: Sequence[str]) -> list[str]:
    """The command in a control group of its own, so that a restart of the agent's unit does not end it."""
    unit = f"--unit={scope_of(jid)}"
    return ["systemd-run", "--quiet", "--scope", "--collect", unit, "--", *command]
