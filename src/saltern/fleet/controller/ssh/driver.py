"""Drives one job on one host without an agent: tries until the host is reached, follows the job, stores its
result.

The database has the job, and the host has its progress. So a controller that restarts, or another one that
takes over, continues with the same call.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from saltern.fleet.bus.ports import Bus
from saltern.fleet.bus.tasks import end
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.singleton import Hold, LeaseLost
from saltern.fleet.controller.ssh.access import STEPS, HostAccess
from saltern.fleet.controller.ssh.host_reports import HostReports
from saltern.fleet.controller.ssh.records import (
    write_records,
    write_returns,
    write_unreached,
    write_wait,
)
from saltern.fleet.controller.ssh.returns import is_unbegun, returns_of
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.messages import Records
from saltern.fleet.protocol.seal import SealBroken
from saltern.fleet.protocol.verbs import DEPLOY
from saltern.fleet.ssh.drive import Done, Drive, Reach, Work
from saltern.fleet.ssh.pillar import HostPillar, of_roster
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.task import task_of
from saltern.fleet.ssh.tree import JobFiles
from saltern.fleet.store.ssh_systems import OpenWork
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

LEAST = 60.0  # seconds to wait for a host that has begun a job, even if the job has expired
GRACE = 15.0  # seconds for a job to end after it was killed
PAUSES = (0.2, 0.5, 1.0, 2.0, *STEPS)


# Answers a host's request for a file that is rendered here: its id, the request, its pillar in the roster.
HostAnswers = Callable[[str, dict[str, Any], dict[str, Any]], Awaitable[dict[str, Any]]]


class NotStored(Exception):
    """The database is away; the host keeps its results."""


class Tools(Struct, frozen=True, kw_only=True):
    """What every driver uses."""

    reach: Reach
    pillar: HostPillar | None
    render: HostAnswers | None
    fleet: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]] | None
    deploy: Callable[[OpenWork, Host], Awaitable[Done]]
    files: Callable[[str], Awaitable[JobFiles]]
    open_arguments: Callable[[str, Mapping[str, Any]], dict[str, Any]]
    bus: Bus
    hub: Hub
    now: Callable[[], float]


class Driver:
    """Drives one job on one host to its end, and stores that."""

    def __init__(self, tools: Tools, hold: Hold, one: OpenWork, host: Host, access: HostAccess) -> None:
        self._tools = tools
        self._hold = hold
        self._one = one
        self._host = host
        self._access = access
        self._drive: Drive | None = None
        self._cancelled: bool | None = False if one.cancelled else None
        self._reports = HostReports(hold, one, access, tools.bus, tools.hub, now=tools.now)

    @property
    def key(self) -> tuple[str, str]:
        return self._one.job.jid, self._one.system

    @property
    def is_begun(self) -> bool:
        return self._one.is_begun or bool(self._reports.started)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled is not None

    async def run(self) -> None:
        job = self._one.job
        self._access.hurry()
        try:
            async with self._access.turn(changing=job.changing):
                if job.splay and not self._one.is_begun:
                    await asyncio.sleep(random.uniform(0, job.splay))
                done = await self._until_done()
            await self._finish(done)
        except LeaseLost:
            return  # another controller has it
        except (OperationError, NotStored):
            raise  # the database is away: open jobs are started again
        except Exception as problem:
            log.error("job %s on %s: %s", *self.key, problem, exc_info=problem)
            await self._finish(Done(status="indeterminate", why=f"a defect of saltern: {problem!r}", code=70))
        finally:
            await self._reports.end()

    async def cancel(self, *, hard: bool) -> None:
        """End the job before its next state, or at once; a job that has not begun never does."""
        self._cancelled = hard
        if self._drive is not None:
            await self._drive.cancel(hard=hard)

    # -- until it has ended -------------------------------------------------------------------------------

    async def _until_done(self) -> Done:
        while True:
            async with self._access.trial():
                if (over := self._over()) is not None:
                    return over
                done = await self._attempt()
                if not done.problem:
                    self._access.reached()
                    return done
                self._access.failed()
            if not is_unbegun(done):
                await self._hold.write(write_unreached, self._one.system, done.why, self._tools.now())
                return done
            await self._hold.write(write_wait, *self.key, done.why, self._tools.now())
            self._tools.hub.wake()

    def _over(self) -> Done | None:
        """How it ends without being begun: it was cancelled, or has expired."""
        if self._one.is_begun:
            return None
        if self.is_cancelled:
            return Done(status="cancelled", why="cancelled before it began")
        if self._tools.now() >= self._one.expires:
            return Done(status="expired", why="the job had expired")
        return None

    async def _attempt(self) -> Done:
        job = self._one.job
        if job.function == DEPLOY:
            self._reports.take("begun", {})
            return await self._tools.deploy(self._one, self._host)
        try:
            tree = await self._tools.files(job.tree) if job.tree else None
            arguments = self._tools.open_arguments(self._one.system, job.kwargs)
            work = Work(
                task={**task_of(job, self._host), "kwargs": arguments},
                tree=tree,
                pillar=self._tools.pillar,
                render=self._render if self._tools.render is not None else None,
                fleet=self._ask_fleet if self._tools.fleet is not None else None,
                patience=max(LEAST, self._one.expires - self._tools.now()),
                steps=PAUSES,
                begun=self._one.is_begun,
                keep=self._keep,
            )
            self._drive = Drive(self._host, work, self._tools.reach, self._reports.take)
            if self._cancelled is not None:
                await self._drive.cancel(hard=self._cancelled)
            return await self._run_limited(self._drive)
        except (NotFetched, OperationError, SealBroken) as problem:
            return Done(status="failed", why=str(problem), code=1)

    async def _render(self, host: Host, question: dict[str, Any]) -> dict[str, Any]:
        assert self._tools.render is not None
        return await self._tools.render(host.id, question, of_roster(host))

    async def _ask_fleet(self, host: Host, question: dict[str, Any]) -> dict[str, Any]:
        assert self._tools.fleet is not None
        return await self._tools.fleet(host.id, {**question, "jid": self._one.job.jid})

    async def _run_limited(self, drive: Drive) -> Done:
        """Wait for its end; kill it if it exceeds the time limit of its job."""
        limit = self._one.job.time_limit
        task = asyncio.create_task(drive.run())
        try:
            done, _ = await asyncio.wait({task}, timeout=limit or None)
            if done:
                return task.result()
            await drive.cancel(hard=True)
            await asyncio.wait({task}, timeout=GRACE)
            return Done(status="failed", why=f"it took longer than its time limit of {limit:g} s", code=1)
        finally:
            await end(task)

    async def _keep(self, data: bytes) -> None:
        """Store records of its journal; invalid ones are left out."""
        try:
            records = decode(Records, data)
        except BadMessage as problem:
            return log.warning("job %s on %s: records are left out: %s", *self.key, problem.reason)
        if records.jid != self._one.job.jid:
            return log.warning("job %s on %s: records of another job are left out", *self.key)
        try:
            await self._hold.write(write_records, self._one.system, records, self._tools.now())
        except OperationError as problem:
            raise NotStored from problem
        return self._tools.hub.wake()

    async def _finish(self, done: Done) -> None:
        await self._reports.written()
        now = self._tools.now()
        jid, started = self._one.job.jid, self._reports.started
        returns = list(returns_of(jid, done, started=started, ended=now, cancelled=self.is_cancelled))
        await self._hold.write(write_returns, self._one.system, returns, now)
        self._tools.hub.wake()
