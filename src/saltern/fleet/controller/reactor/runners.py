"""``runner`` and ``wheel`` reactions: each in a process of its own, which asks as ``reactor``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import msgspec

from saltern.fleet.bus.tasks import end
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import runner_event
from saltern.fleet.controller.reactor.options import REACTOR
from saltern.fleet.reactor.calls import RunnerAnswer, RunnerCall
from saltern.fleet.reactor.forms import Reaction
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.reactions import DONE, FAILED, end_reaction
from saltern.language.diagnostics import OperationError
from saltern.system import own_program

log = logging.getLogger(__name__)

PROGRAM = "saltern.cli.reaction"
AT_ONCE = 10  # processes
TRIES, AGAIN = 100, 0.2  # attempts to write the end of one, and seconds between two
SHOWN = 100_000  # bytes of a value that its event shows


class RunnerProcesses:
    """Starts them, and writes down what came of each. ``secret``: what they ask the controller with."""

    def __init__(self, calls: Calls, hub: Hub, socket: str, *, now: Callable[[], float]) -> None:
        self.secret = ""
        self._calls = calls
        self._hub = hub
        self._socket = socket
        self._now = now
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def can_run(self) -> bool:
        return bool(self.secret and self._socket)

    async def begin(self, one: Reaction, jid: str) -> None:
        """Have it run, without waiting for its end."""
        made = RunnerCall(
            kind=one.kind,
            function=one.function,
            args=one.args,
            kwargs=one.kwargs,
            controller=self._socket,
            jid=jid,
        )
        await self._calls.write(store_events, [self._event(made, "new", {})])
        self._hub.wake()
        task = asyncio.create_task(self._run(made))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, call: RunnerCall) -> None:
        async with self._room:
            answer = await exchange(call, self.secret)
        data = {"return": answer.problem or shown(answer.value), "success": not answer.problem}
        await self._write_end(call, answer.problem, self._event(call, "ret", data))
        self._hub.wake()

    async def _write_end(self, call: RunnerCall, problem: str, event: NewEvent) -> None:
        """Write what came of it; the row that says that it runs may not be there yet."""
        for _ in range(TRIES):
            with suppress(OperationError):
                if await self._calls.write(_ended, call.jid, problem, event):
                    return
            await asyncio.sleep(AGAIN)
        log.error("what came of %s of %s could not be written", call.function, call.jid)

    def _event(self, call: RunnerCall, what: str, data: dict[str, object]) -> NewEvent:
        return runner_event(call, what, data, user=REACTOR.name, now=self._now(), cause=call.jid)

    async def settle(self) -> None:
        """Return when all have ended."""
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        for task in [*self._tasks]:
            await end(task)


def shown(value: object) -> object:
    """A value as the event of its runner has it."""
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
        out, _ = await process.communicate(msgspec.json.encode(call))
        return msgspec.json.decode(out, type=RunnerAnswer)
    except msgspec.DecodeError:
        return RunnerAnswer(problem=f"its process has ended with {process.returncode}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _ended(connection: Connection, jid: str, problem: str, event: NewEvent) -> bool:
    if not end_reaction(connection, jid, FAILED if problem else DONE, problem):
        return False
    failed = {"jid": jid, "function": event.data["fun"], "why": problem}
    more = [NewEvent(tag="saltern/reactor/failed", data=failed, at=event.at, cause=jid)] if problem else []
    store_events(connection, [event, *more])
    return True
