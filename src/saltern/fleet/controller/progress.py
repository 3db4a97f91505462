"""Progress of jobs: passed on to followers; the first report of each job marks it as running."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.controller.alarms import Alarms
from saltern.fleet.controller.batch import system_of
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.messages import Progress
from saltern.fleet.protocol.notices import Progressed, StatusChanged
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store.database import Connection
from saltern.fleet.store.jobs import Change, set_status
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

EVERY = 0.3  # seconds in which starts are collected
AGAIN = 60.0  # seconds after which a job is marked once more: it may have been down meanwhile
SEEN = 20_000  # jobs on systems that are known to have begun
PROGRESS = SUBJECTS["progress"]


class ProgressDesk:
    """Every controller receives all progress, because each has its own followers. Senders take turns."""

    def __init__(
        self,
        bus: Bus,
        calls: Calls,
        hub: Hub,
        alarms: Alarms,
        *,
        now: Callable[[], float],
        on_leg: Callable[[str, str, Any], None] = lambda _jid, _system, _leg: None,
    ) -> None:
        self._bus = bus
        self._calls = calls
        self._hub = hub
        self._alarms = alarms
        self._now = now
        self._on_leg = on_leg
        self._seen: OrderedDict[tuple[str, str], Progress] = OrderedDict()
        self._marked: dict[tuple[str, str], float] = {}
        self.begun: list[tuple[str, str]] = []
        self._wanted = asyncio.Event()

    async def start(self) -> None:
        await self._bus.subscribe(PROGRESS.wild(), self._on, sender=1)

    async def _on(self, message: Message) -> None:
        system = system_of(message.subject.split(".")[1])
        fields = PROGRESS.parse(message.subject)
        if fields is None:
            return self._alarms.refuse(system, "bad-subject")
        try:
            one = decode(Progress, message.data)
        except BadMessage as problem:
            return self._alarms.refuse(system, problem.reason)
        if one.jid != fields["jid"]:
            return self._alarms.refuse(system, "other-job")
        if one.leg:
            self._on_leg(one.jid, system, one.leg)
            one = replace(one, leg={})
        self._note((one.jid, system), one)
        self._hub.publish(
            Progressed(
                jid=one.jid,
                system=system,
                done=one.done,
                total=one.total,
                state=one.state,
                outcome=one.outcome,
                failed=one.failed,
                comment=one.comment,
                at=self._now(),
            )
        )
        return None

    def latest(self, jid: str, system: str) -> Progress | None:
        """The last reported progress of the job on a system; None if none was reported here."""
        return self._seen.get((jid, system))

    def _note(self, key: tuple[str, str], one: Progress) -> None:
        self._seen[key] = one
        now = self._now()
        if now - self._marked.get(key, float("-inf")) < AGAIN:
            return
        self._marked[key] = now
        if len(self._seen) > SEEN:
            old, _ = self._seen.popitem(last=False)
            self._marked.pop(old, None)
        self.begun.append(key)
        self._wanted.set()

    async def run(self) -> None:
        while True:
            await self._wanted.wait()
            await asyncio.sleep(EVERY)
            await self.step()

    async def step(self) -> None:
        """Store which jobs have begun."""
        self._wanted.clear()
        begun, self.begun = self.begun, []
        now = self._now()
        try:
            changes = await self._calls.write(_mark, begun, now)
        except OperationError as problem:
            log.warning("the start of jobs cannot be stored: %s", problem)
            return
        for change in changes:
            self._hub.publish(StatusChanged(jid=change.jid, system=change.system, status="running", at=now))


def _mark(connection: Connection, begun: list[tuple[str, str]], now: float) -> list[Change]:
    changes = [Change(jid, system, "running") for jid, system in begun]
    return [one for one in changes if set_status(connection, one, now, reported=True, started=now)]
