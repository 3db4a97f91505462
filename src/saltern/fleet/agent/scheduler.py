"""Runs the jobs of the machine's own schedule, whether or not a controller can be reached."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from random import random
from typing import Any

import msgspec
from msgspec import UNSET

from saltern.fleet.agent.local_tree import LocalTree
from saltern.fleet.agent.output import read_output
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.schedule import Scheduled, may_run, next_time, spread
from saltern.fleet.agent.spool import LOCAL, REPORTED, Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.task import Task
from saltern.fleet.agent.worker_task import WorkerSettings
from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import verb_of

log = logging.getLogger(__name__)

LOOK = "schedule"  # the name of the folder, where jobs have their jid
EVERY = 6 * 3600.0  # seconds between two reads of the schedule, each of which costs a process
LONGEST = 600.0  # seconds between two checks of the clock, which may be changed
SHORTEST = 1.0


class Scheduler:
    """Reads the schedule in a worker, and puts due jobs into the spool; then calls ``added``."""

    def __init__(
        self,
        spool: Spool,
        runner: Runner,
        settings: WorkerSettings,
        *,
        denied: Callable[[Job], str] = lambda _job: "",
        added: Callable[[], None] = lambda: None,
        local: Callable[[], float] = time.time,
        tree: LocalTree | None = None,
        beacons: Callable[[dict[str, Any]], None] = lambda _beacons: None,
    ) -> None:
        self._spool = spool
        self._runner = runner
        self._settings = settings
        self._denied = denied
        self._added = added
        self._local = local
        self._tree = tree or LocalTree(None, spool, "")
        self._beacons = beacons
        self._known: list[Scheduled] = []
        self._fresh = True
        self._wanted = asyncio.Event()
        self._open: dict[str, list[str]] = {}  # name → the jobs that were last begun

    def look_again(self) -> None:
        """Read the schedule again, because a job that may have changed it has ended."""
        self._wanted.set()

    async def run(self) -> None:
        """Read and begin, for ever."""
        read = float("-inf")
        while True:
            if self._wanted.is_set() or self._local() - read >= EVERY:
                self._wanted.clear()
                read = self._local()
                await self._read()
            try:
                due = self.begin_due()
            except SpoolFailed as problem:
                log.error("the schedule waits: %s", problem)
                due = None
            wait = min(LONGEST, max(SHORTEST, due - self._local())) if due is not None else LONGEST
            await is_set_within(self._wanted, wait)

    async def _read(self) -> None:
        """Read the schedule, with the pillar of the controllers if there is one: it may hold a part of it."""
        try:
            options = await self._tree.options()
            if not await self._look(options) and options:
                await self._look({})
        finally:
            self._tree.release()

    async def _look(self, options: dict[str, object]) -> bool:
        self._runner.folder(LOOK).remove()
        task = Task(
            jid=LOOK,
            function=LOOK,
            command=LOOK,
            asks=True,
            config=self._settings.config,
            overrides={**self._settings.overrides, **options},
            socket=self._settings.socket,
        )
        outcome = await self._runner.work(task)
        if outcome is None or outcome.code:
            log.warning("the schedule cannot be read: %s", outcome.why if outcome else "killed")
            return False
        if outcome.why:
            log.warning("%s", outcome.why)
        found: Any = read_output(self._runner.folder(LOOK), outcome) or {}
        self._known = msgspec.convert(found.get("jobs", []), list[Scheduled])
        self._beacons(found.get("beacons", {}))
        self._runner.folder(LOOK).remove()
        return True

    def begin_due(self) -> float | None:
        """Begin due jobs; return when the next one is due."""
        waits: list[float] = []
        for job in self._known:
            now = self._local()
            last = float(self._spool.get(f"schedule {job.name} {job.function}") or 0)
            if not last or (self._fresh and job.on_start):
                last = self._first(job, now)
            due = next_time(job, last=last, now=now, zone=_zone(now))
            if due is not None and due <= now + 0.5:
                self._begin(job, now)
                due = next_time(job, last=now, now=now + 1, zone=_zone(now))
            waits += [due] if due is not None else []
        self._fresh = self._fresh and not self._known
        return min(waits, default=None)

    def _first(self, job: Scheduled, now: float) -> float:
        """Record a new job, whose times count from now; with ``run_on_start``, begin it at once."""
        if job.on_start:
            self._begin(job, now)
        else:
            self._note(job, now)
        return now

    def _note(self, job: Scheduled, now: float) -> None:
        self._spool.put(f"schedule {job.name} {job.function}", str(now))

    def _begin(self, job: Scheduled, now: float) -> None:
        self._note(job, now)
        if not may_run(job, now, _zone(now)):
            log.info("the scheduled job %r is left out: it is outside of its range", job.name)
            return
        busy = [jid for jid in self._open.get(job.name, ()) if self._is_busy(jid)]
        if len(busy) >= job.most:
            log.info("the scheduled job %r is still running, and is not started again", job.name)
            return
        verb = verb_of(job.function)
        made = Job(
            jid=new_jid(now),
            function=job.function,
            args=job.args,
            kwargs=job.kwargs,
            changing=verb.changing,
            on_interrupt=verb.on_interrupt,
            user=f"schedule:{job.name}"[:255],
            tree=self._tree.digest,
            returners=job.returners or UNSET,
            return_options=job.return_options or UNSET,
        )
        if why := self._denied(made):
            log.warning("the scheduled job %r is not run: %s is on the deny list", job.name, why)
            return
        due = now + spread(job, random())
        local = REPORTED if job.returns else LOCAL
        self._spool.add(made, received=now, due=due, expires=due + verb.life, local=local)
        self._open[job.name] = [*busy, made.jid]
        log.info("the scheduled job %r is job %s", job.name, made.jid)
        self._added()

    def _is_busy(self, jid: str) -> bool:
        entry = self._spool.entry(jid)
        return entry is not None and entry.state in ("waiting", "running")


def _zone(now: float) -> float:
    return float(time.localtime(now).tm_gmtoff)
