"""Has the jobs of the machine's own schedule run, whether a controller can be reached or not."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from random import random

import msgspec

from saltern.fleet.agent.jobs import WorkerSettings
from saltern.fleet.agent.output import read_output
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.schedule import Scheduled, next_time, spread
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.task import Task
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import verb_of

log = logging.getLogger(__name__)

LOOK = "schedule"  # the name of the folder, where jobs have their jid
EVERY = 6 * 3600.0  # seconds between two looks at the schedule itself, which cost a process
LONGEST = 600.0  # seconds between two looks at the clock: it may be set
SHORTEST = 1.0


class Scheduler:
    """Reads the schedule by a worker, and puts what is due into the spool. ``added`` is called then."""

    def __init__(
        self,
        spool: Spool,
        runner: Runner,
        settings: WorkerSettings,
        *,
        denied: Callable[[Job], str] = lambda _job: "",
        added: Callable[[], None] = lambda: None,
        local: Callable[[], float] = time.time,
    ) -> None:
        self._spool = spool
        self._runner = runner
        self._settings = settings
        self._denied = denied
        self._added = added
        self._local = local
        self._known: list[Scheduled] = []
        self._fresh = True
        self._wanted = asyncio.Event()
        self._open: dict[str, str] = {}  # name → the job that was last begun

    def look_again(self) -> None:
        """A job that changed something has ended: it may have been the schedule."""
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
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wanted.wait()

    async def _read(self) -> None:
        self._runner.folder(LOOK).remove()
        task = Task(
            jid=LOOK,
            function=LOOK,
            command=LOOK,
            asks=True,
            config=self._settings.config,
            overrides=self._settings.overrides,
        )
        outcome = await self._runner.work(task)
        if outcome is None or outcome.code:
            log.warning("the schedule cannot be read: %s", outcome.why if outcome else "killed")
            return
        if outcome.why:
            log.warning("%s", outcome.why)
        found = read_output(self._runner.folder(LOOK), outcome)
        self._known = msgspec.convert(found or [], list[Scheduled])
        self._runner.folder(LOOK).remove()

    def begin_due(self) -> float | None:
        """Begin what is due; when the next one is."""
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
        """One that is new counts from now; ``run_on_start`` begins it at once."""
        if job.on_start:
            self._begin(job, now)
        else:
            self._note(job, now)
        return now

    def _note(self, job: Scheduled, now: float) -> None:
        self._spool.put(f"schedule {job.name} {job.function}", str(now))

    def _begin(self, job: Scheduled, now: float) -> None:
        self._note(job, now)
        before = self._spool.entry(self._open.get(job.name, ""))
        if before is not None and before.state in ("waiting", "running"):
            log.info("the scheduled job %r is still at work, and is not begun again", job.name)
            return
        verb = verb_of(job.function)
        made = Job(
            jid=new_jid(now),
            function=job.function,
            args=job.args,
            kwargs=job.kwargs,
            changing=verb.changing,
            on_interrupt=verb.on_interrupt,
            user=f"schedule:{job.name}",
        )
        if why := self._denied(made):
            log.warning("the scheduled job %r is not run: %s is on the deny list", job.name, why)
            return
        due = now + spread(job, random())
        self._spool.add(made, received=now, due=due, expires=due + verb.life, local=True)
        self._open[job.name] = made.jid
        log.info("the scheduled job %r is job %s", job.name, made.jid)
        self._added()


def _zone(now: float) -> float:
    return float(time.localtime(now).tm_gmtoff)
