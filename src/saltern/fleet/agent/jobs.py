"""The jobs of an agent, from the moment they are stored to the moment their return is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from saltern.fleet.agent import recovery
from saltern.fleet.agent.job_tasks import JobTasks
from saltern.fleet.agent.queue import plan_queue
from saltern.fleet.agent.recovery import Todo
from saltern.fleet.agent.return_keeper import FULL, ReturnKeeper, Supply
from saltern.fleet.agent.returns import short_return, whole_return
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.spool import RUNNING, WAITING, Entry, Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.task import Outcome
from saltern.fleet.agent.worker_task import WorkerSettings, task_of
from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.bus.tasks import end
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.protocol.message import Status
from saltern.fleet.protocol.messages import Return
from saltern.fleet.protocol.seal import SealBroken

log = logging.getLogger(__name__)

PING = "test.ping"
LULL = 1.0  # seconds before a worker is replaced: what ended it may be a shutdown, which ends this agent next


class Jobs:
    """Begins jobs in their order, follows them, and keeps their returns."""

    def __init__(
        self,
        spool: Spool,
        runner: Runner,
        *,
        now: Callable[[], float],
        begun: Callable[[str], None] = lambda _jid: None,
        returned: Callable[[str], None] = lambda _jid: None,
        settings: WorkerSettings | None = None,
        supply: Supply | None = None,
        denied: Callable[[], tuple[str, ...]] = lambda: (),
        open_arguments: Callable[[Mapping[str, Any]], dict[str, Any]] = dict,
        retry: float = FULL,
    ) -> None:
        self._spool = spool
        self._runner = runner
        self._now = now
        self._begun = begun
        self._settings = settings or WorkerSettings()
        self._supply = supply
        self.keeper = ReturnKeeper(spool, runner, now, returned=returned, supply=supply, retry=retry)
        self._denied = denied
        self._open_arguments = open_arguments
        self._wanted = asyncio.Event()
        self._retry = retry
        self._tasks = JobTasks(self.wake)
        self._late: set[str] = set()

    @property
    def running(self) -> list[str]:
        return list(self._tasks.names)

    @property
    def changing(self) -> bool:
        """True while a job runs that may change something."""
        return any(one.state == RUNNING and one.changing for one in self._spool.open_jobs())

    def wake(self) -> None:
        """Check the queue again."""
        self._wanted.set()

    async def run(self) -> None:
        """Begin due jobs, for ever."""
        while True:
            self._wanted.clear()
            try:
                wake = self._step()
            except SpoolFailed as problem:
                log.error("%s", problem)
                wake = self._now() + self._retry
            await is_set_within(self._wanted, None if wake is None else max(0.05, wake - self._now()))

    def _step(self) -> float | None:
        """Do what the queue decides; return when to check again."""
        step = plan_queue(self._spool.open_jobs(), now=self._now(), reported=self._tasks.names)
        for entry in _load_entries(self._spool, step.cancelled):
            self._report(entry, "cancelled", "cancelled before it began")
        for entry in _load_entries(self._spool, step.expired):
            self._report(entry, "expired", "it expired while it waited here")
        for entry in _load_entries(self._spool, step.begin):
            self._begin(entry)
        return step.wake

    def _begin(self, entry: Entry) -> None:
        attempt = self._spool.begin(entry.jid, self._now())
        self._tasks.spawn(entry.jid, self._work(entry, attempt))
        self._begun(entry.jid)

    def _report(self, entry: Entry, status: Status, why: str) -> None:
        """Return that a job was not run, or not to its end."""
        parts = short_return(entry, status, why, now=self._now())
        self._tasks.spawn(entry.jid, self.keeper.finish(entry, lambda: parts))

    def recover(self) -> None:
        """Take over the jobs that an earlier agent had running."""
        running = [one.jid for one in self._spool.open_jobs() if one.state == RUNNING]
        for entry in _load_entries(self._spool, running):
            self._recover(entry)

    def _recover(self, entry: Entry) -> None:
        todo = recovery.decide(entry, self._runner.trace(entry.jid))
        log.info("job %s: %s", entry.jid, todo.value)
        if todo in (Todo.FOLLOW, Todo.COLLECT):
            self._tasks.spawn(entry.jid, self._attend(entry, self._runner.follow(entry.jid)))
            self._begun(entry.jid)
        elif todo is Todo.CONTINUE:
            try:
                self._begin(entry)
            except SpoolFailed as problem:  # a full disk: later
                log.error("job %s waits: %s", entry.jid, problem)
                asyncio.get_running_loop().call_later(
                    self._retry, lambda: self._tasks.spawn(entry.jid, self._conclude(entry.jid, None))
                )
        else:
            why = f"its worker was killed at attempt {entry.attempt}: {todo.value}"
            self._report(entry, "indeterminate", why)

    async def _work(self, entry: Entry, attempt: int) -> None:
        if entry.job.function == PING and not entry.job.returners:
            return await self.keeper.finish(entry, lambda: [_pong(entry, self._now())])
        try:
            options = await self._supply.options(entry.job) if self._supply else {}
            arguments = self._open_arguments(entry.job.kwargs)
        except (NotFetched, SealBroken) as problem:
            why = str(problem)
            return await self.keeper.finish(
                entry, lambda: short_return(entry, "failed", why, now=self._now())
            )
        task = task_of(entry.job, attempt, self._settings, arguments, options, self._denied())
        return await self._attend(entry, self._runner.work(task))

    async def _attend(self, entry: Entry, work: Coroutine[Any, Any, Outcome | None]) -> None:
        """Wait for a worker; kill one that exceeds the time limit of its job."""
        waiting = asyncio.ensure_future(work)
        limit = entry.job.time_limit or None
        try:
            done, _ = await asyncio.wait({waiting}, timeout=limit)
            if not done:
                self._late.add(entry.jid)
                await self._runner.cancel(entry.jid, hard=True)
            outcome = await waiting
        finally:
            await end(waiting)
        if outcome is None:
            await asyncio.sleep(LULL)
        await self._conclude(entry.jid, outcome)

    async def _conclude(self, jid: str, outcome: Outcome | None) -> None:
        """Keep the return of a worker that has ended; for one that was killed, decide what to do."""
        entry = self._spool.entry(jid)
        if entry is None or entry.state != RUNNING:
            return
        late = jid in self._late
        self._late.discard(jid)
        if late:
            why = f"it took longer than its time limit of {entry.job.time_limit:g} s"
            await self.keeper.finish(entry, lambda: short_return(entry, "failed", why, now=self._now()))
        elif outcome is not None:
            folder = self._runner.folder(jid)
            await self.keeper.finish(entry, lambda: whole_return(entry, outcome, folder, now=self._now()))
        elif entry.cancel:
            await self.keeper.finish(
                entry, lambda: short_return(entry, "cancelled", "it was killed", now=self._now())
            )
        else:
            asyncio.get_running_loop().call_soon(self._recover, entry)

    async def cancel(self, jid: str, *, hard: bool, why: str = "") -> None:
        """Cancel a job: at once if it waits, before its next state or by force if it runs."""
        entry = self._spool.entry(jid)
        if entry is None or entry.state not in (WAITING, RUNNING):
            return
        self._spool.cancel(jid, "hard" if hard else "soft")
        if entry.state == RUNNING:
            await self._runner.cancel(jid, hard=hard, why=why)
        self.wake()

    async def close(self) -> None:
        """Stop following; the workers continue."""
        await self._tasks.end()


def _pong(entry: Entry, now: float) -> Return:
    return Return(jid=entry.jid, status="returned", started=entry.started, ended=now, size=4, body=b"true")


def _load_entries(spool: Spool, jids: Iterable[str]) -> list[Entry]:
    return [entry for jid in jids if (entry := spool.entry(jid)) is not None]
