"""Reports of a host on a running job: stored, and passed on to all controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.bus.tasks import end
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.controller.ssh.access import HostAccess
from saltern.fleet.controller.ssh.records import write_begun, write_down
from saltern.fleet.controller.ssh.returns import progress_of
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.messages import Away
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store.ssh_systems import OpenWork

BACK = 600.0  # seconds in which a rebooting machine is expected back
OFTEN = 0.5  # seconds between two progress messages, except for a failure


class HostReports:
    """The reports of one job on one host. ``started``: when the host first reported that it began."""

    def __init__(
        self, hold: Hold, one: OpenWork, access: HostAccess, bus: Bus, hub: Hub, *, now: Callable[[], float]
    ) -> None:
        self.started = 0.0
        self._hold = hold
        self._one = one
        self._access = access
        self._bus = bus
        self._hub = hub
        self._now = now
        self._writes: set[asyncio.Task[Any]] = set()
        self._said = float("-inf")

    def take(self, kind: str, head: dict[str, Any]) -> None:
        """Process one report, by its kind."""
        now = self._now()
        if kind == "begun":
            self.started = self.started or now
            self._access.reached()
            self._spawn(self._hold.write(write_begun, self._one.job.jid, self._one.system, now))
        elif kind == "paused":
            why: Any = head.get("kind") if head.get("kind") in ("reboot", "update") else "reboot"
            away = Away(why=why, jid=self._one.job.jid, back_by=now + float(head.get("seconds") or BACK))
            self._spawn(self._hold.write(write_down, self._one.system, away, now))
        elif kind == "progress":
            self._pass_on(head)

    def _pass_on(self, head: dict[str, Any]) -> None:
        """Publish the progress of the job to all controllers, as an agent does, at a limited rate."""
        tick = asyncio.get_running_loop().time()
        is_news = head.get("outcome") == "failed" or bool(head.get("leg"))
        if not is_news and tick - self._said < OFTEN:
            return
        self._said = tick
        subject = SUBJECTS["progress"].of(id=self._one.system, jid=self._one.job.jid)
        self._spawn(self._publish(subject, encode(progress_of(self._one.job.jid, head))))

    async def _publish(self, subject: str, data: bytes) -> None:
        with suppress(BusError):
            await self._bus.publish(subject, data)

    async def written(self) -> None:
        """Return when all reports are stored."""
        if self._writes:
            await asyncio.wait(self._writes)

    async def end(self) -> None:
        for task in list(self._writes):
            await end(task)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._writes.add(task)
        task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        if not task.cancelled() and task.exception() is None:
            self._hub.wake()
