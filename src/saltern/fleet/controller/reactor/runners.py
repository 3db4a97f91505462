"""``runner`` and ``wheel`` reactions: each in its own process, which acts as ``reactor``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import runner_event
from saltern.fleet.controller.reactor.options import REACTOR
from saltern.fleet.controller.runner_processes import RunnerProcesses, end_data
from saltern.fleet.reactor.calls import RunnerAnswer, RunnerCall
from saltern.fleet.reactor.forms import Reaction
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.reactions import DONE, FAILED, end_reaction
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

TRIES, AGAIN = 100, 0.2  # attempts to write the end of one, and seconds between two


class ReactionRunners:
    """Starts them, and writes down what came of each. ``secret``: what they ask the controller with."""

    def __init__(self, calls: Calls, hub: Hub, socket: str, *, now: Callable[[], float]) -> None:
        self.secret = ""
        self._calls = calls
        self._socket = socket
        self._now = now
        self._processes = RunnerProcesses(hub)

    @property
    def can_run(self) -> bool:
        return bool(self.secret and self._socket)

    async def begin(self, one: Reaction, jid: str) -> None:
        """Start a runner without waiting for its end."""
        made = RunnerCall(
            kind=one.kind,
            function=one.function,
            args=one.args,
            kwargs=one.kwargs,
            controller=self._socket,
            jid=jid,
        )
        await self._calls.write(store_events, [self._event(made, "new", {})])
        self._processes.begin(made, lambda: self.secret, lambda answer: self._write_end(made, answer))

    async def _write_end(self, call: RunnerCall, answer: RunnerAnswer) -> None:
        """Write what came of it; the row that says that it runs may not be there yet."""
        event = self._event(call, "ret", end_data(answer))
        for _ in range(TRIES):
            with suppress(OperationError):
                if await self._calls.write(_ended, call.jid, answer.problem, event):
                    return
            await asyncio.sleep(AGAIN)
        log.error("the result of %s of %s could not be stored", call.function, call.jid)

    def _event(self, call: RunnerCall, what: str, data: dict[str, object]) -> NewEvent:
        return runner_event(call, what, data, user=REACTOR.name, now=self._now(), cause=call.jid)

    async def settle(self) -> None:
        """Return when all have ended."""
        await self._processes.settle()

    async def close(self) -> None:
        await self._processes.close()


def _ended(connection: Connection, jid: str, problem: str, event: NewEvent) -> bool:
    if not end_reaction(connection, jid, FAILED if problem else DONE, problem):
        return False
    failed = {"jid": jid, "function": event.data["fun"], "why": problem}
    more = [NewEvent(tag="saltern/reactor/failed", data=failed, at=event.at, cause=jid)] if problem else []
    store_events(connection, [event, *more])
    return True
