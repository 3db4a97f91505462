"""Runners requested by systems: each in its own process, which acts as that system."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from saltern.fleet.access.peers import Order
from saltern.fleet.access.ports import Principal
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import runner_event
from saltern.fleet.controller.runner_processes import RunnerProcesses, end_data
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.peer_messages import PublishAnswer
from saltern.fleet.reactor.calls import RunnerAnswer, RunnerCall
from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, event_by_uid, store_events
from saltern.fleet.store.peers import PREFIX
from saltern.language.diagnostics import Diagnostic, OperationError

log = logging.getLogger(__name__)


class Secrets(Protocol):
    """Secrets of processes that the controller starts."""

    def begin_internal(self, who: Principal) -> str: ...


class PeerRunners:
    """Starts them. The event of each end contains the result, for whichever controller is asked."""

    def __init__(self, calls: Calls, hub: Hub, socket: str, *, now: Callable[[], float]) -> None:
        self.secrets: Secrets | None = None  # set when people can log in
        self._calls = calls
        self._socket = socket
        self._now = now
        self._processes = RunnerProcesses(hub)

    async def begin(self, who: Principal, order: Order, parent: str) -> str:
        """Have one run, without waiting for its end; its number."""
        secrets = self.secrets
        if secrets is None or not self._socket:
            what = "this controller has no socket for runners to ask it by"
            raise OperationError(Diagnostic(code="runner-failed", what=what))
        call = RunnerCall(
            kind="runner",
            function=order.function,
            args=list(order.args),
            kwargs=dict(order.kwargs),
            controller=self._socket,
            jid=new_jid(self._now()),
        )
        new = runner_event(call, "new", {}, user=who.name, now=self._now(), cause=parent)
        await self._calls.write(_began, new, who.name, call)
        self._processes.begin(
            call,
            lambda: secrets.begin_internal(who),
            lambda answer: self._write_end(call, answer, who.name, parent),
        )
        return call.jid

    async def _write_end(self, call: RunnerCall, answer: RunnerAnswer, user: str, parent: str) -> None:
        event = runner_event(call, "ret", end_data(answer), user=user, now=self._now(), cause=parent)
        try:
            await self._calls.write(store_events, [replace(event, uid=_uid(user, call.jid))])
        except OperationError as problem:
            log.error("what came of %s of %s could not be written: %s", call.function, call.jid, problem)

    async def look(self, id_: str, jid: str) -> PublishAnswer:
        """The result of a runner that this system requested; empty until it has ended."""
        found = await self._calls.read(event_by_uid, _uid(PREFIX + id_, jid))
        if found is None:
            return PublishAnswer(jid=jid)
        return PublishAnswer(jid=jid, returns={"return": found.data.get("return")}, done=True)

    async def close(self) -> None:
        await self._processes.close()


def _uid(user: str, jid: str) -> str:
    return f"run {user}/{jid}"


def _began(connection: Connection, event: NewEvent, user: str, call: RunnerCall) -> None:
    store_events(connection, [event])
    detail = {"jid": call.jid, "function": f"runner.{call.function}"}
    audit.append(connection, user, "runner.run", detail, event.at)
