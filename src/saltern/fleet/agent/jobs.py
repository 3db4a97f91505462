"""The jobs of an agent, from the moment they are written down to the moment their return is."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.agent import recovery
from saltern.fleet.agent.queue import plan_queue
from saltern.fleet.agent.recovery import Todo
from saltern.fleet.agent.returns import kept_records, short_return, whole_return
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.spool import LOCAL, REPORTED, RUNNING, WAITING, Entry, Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.task import Outcome, Task
from saltern.fleet.bus.tasks import end
from saltern.fleet.files.options import names_in
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.protocol.message import Status
from saltern.fleet.protocol.messages import Job, Records, Return
from saltern.fleet.protocol.sealed import SealBroken
from saltern.fleet.protocol.verbs import verb_of

log = logging.getLogger(__name__)

PING = "test.ping"
UNSENT = 2**53  # all records of a run that no controller has asked for
FULL = 5.0  # seconds after which a spool that could not be written is tried again


class WorkerSettings(Struct, frozen=True, kw_only=True):
    """What every worker of an agent gets: its configuration, what overrides it, where the agent listens."""

    config: str = ""
    overrides: dict[str, Any] = {}
    socket: str = ""


class Supply(Protocol):
    """Fetches what a job needs before its worker is started."""

    async def options(self, job: Job) -> dict[str, object]:
        """Options for the worker; ``NotFetched`` if what it needs cannot be had."""
        ...

    def release(self, jid: str) -> None:
        """The job has ended."""
        ...


class Jobs:
    """Begins jobs in their order, follows them, and keeps what they return."""

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
        self._returned = returned
        self._settings = settings or WorkerSettings()
        self._supply = supply
        self._denied = denied
        self._open_arguments = open_arguments
        self._wanted = asyncio.Event()
        self._retry = retry
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._late: set[str] = set()

    @property
    def running(self) -> list[str]:
        return list(self._tasks)

    @property
    def changing(self) -> bool:
        """True while a job runs that may change something."""
        return any(one.state == RUNNING and one.changing for one in self._spool.open_jobs())

    def wake(self) -> None:
        """Look at the queue again."""
        self._wanted.set()

    async def run(self) -> None:
        """Begin what is due, for ever."""
        while True:
            self._wanted.clear()
            try:
                wake = self._step()
            except SpoolFailed as problem:
                log.error("%s", problem)
                wake = self._now() + self._retry
            with suppress(TimeoutError):
                async with asyncio.timeout(None if wake is None else max(0.05, wake - self._now())):
                    await self._wanted.wait()

    def _step(self) -> float | None:
        """Do what the queue asks for; when to look again."""
        step = plan_queue(self._spool.open_jobs(), now=self._now(), reported=self._tasks)
        for entry in self._loaded(step.cancelled):
            self._report(entry, "cancelled", "cancelled before it began")
        for entry in self._loaded(step.expired):
            self._report(entry, "expired", "it waited here until it expired")
        for entry in self._loaded(step.begin):
            self._begin(entry)
        return step.wake

    def _loaded(self, jids: Iterable[str]) -> list[Entry]:
        return [entry for jid in jids if (entry := self._spool.entry(jid)) is not None]

    def _begin(self, entry: Entry) -> None:
        attempt = self._spool.begin(entry.jid, self._now())
        self._spawn(entry.jid, self._work(entry, attempt))
        self._begun(entry.jid)

    def _report(self, entry: Entry, status: Status, why: str) -> None:
        """Return that it was not run, or not to its end."""
        parts = short_return(entry, status, why, now=self._now())
        self._spawn(entry.jid, self._finish(entry, lambda: parts))

    def recover(self) -> None:
        """Continue with what an earlier agent had running."""
        running = [one.jid for one in self._spool.open_jobs() if one.state == RUNNING]
        for entry in self._loaded(running):
            self._recover(entry)

    def _recover(self, entry: Entry) -> None:
        todo = recovery.decide(entry, self._runner.trace(entry.jid))
        log.info("job %s: %s", entry.jid, todo.value)
        if todo in (Todo.FOLLOW, Todo.COLLECT):
            self._spawn(entry.jid, self._follow(entry))
            self._begun(entry.jid)
        elif todo is Todo.CONTINUE:
            self._begin(entry)
        else:
            why = f"its worker was killed at attempt {entry.attempt}: {todo.value}"
            self._report(entry, "indeterminate", why)

    def _spawn(self, jid: str, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks[jid] = task
        task.add_done_callback(lambda _done: self._ended(jid, task))

    def _ended(self, jid: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(jid) is task:
            del self._tasks[jid]
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("job %s: %s", jid, problem, exc_info=problem)
        self.wake()

    async def _work(self, entry: Entry, attempt: int) -> None:
        if entry.job.function == PING:
            return await self._finish(entry, lambda: [_pong(entry, self._now())])
        try:
            options = await self._supply.options(entry.job) if self._supply else {}
            arguments = self._open_arguments(entry.job.kwargs)
        except (NotFetched, SealBroken) as problem:
            why = str(problem)
            return await self._finish(entry, lambda: short_return(entry, "failed", why, now=self._now()))
        task = self._task(entry.job, arguments, attempt, options)
        outcome = await self._limited(entry, self._runner.work(task))
        return await self._conclude(entry.jid, outcome)

    async def _follow(self, entry: Entry) -> None:
        await self._conclude(entry.jid, await self._limited(entry, self._runner.follow(entry.jid)))

    def _task(self, job: Job, arguments: dict[str, Any], attempt: int, options: dict[str, object]) -> Task:
        verb = verb_of(job.function, test=job.test)
        return Task(
            jid=job.jid,
            attempt=attempt,
            function=job.function,
            args=job.args,
            kwargs=arguments,
            test=job.test,
            environment=job.environment,
            command=verb.command,
            durable=verb.durable,
            asks=not job.changing and not verb.changing and verb.command == "call",
            again=attempt > 1,
            config=self._settings.config,
            overrides={**self._settings.overrides, **options},
            names=names_in(options),
            socket=self._settings.socket,
            denied=self._denied(),
        )

    async def _limited(self, entry: Entry, work: Coroutine[Any, Any, Outcome | None]) -> Outcome | None:
        """Wait for a worker; one that exceeds the time limit of its job is ended by force."""
        waiting = asyncio.ensure_future(work)
        limit = entry.job.time_limit or None
        try:
            done, _ = await asyncio.wait({waiting}, timeout=limit)
            if not done:
                self._late.add(entry.jid)
                await self._runner.cancel(entry.jid, hard=True)
            return await waiting
        finally:
            await end(waiting)

    async def _conclude(self, jid: str, outcome: Outcome | None) -> None:
        """Keep the return of a worker that has ended; of one that was killed, decide what to do."""
        entry = self._spool.entry(jid)
        if entry is None or entry.state != RUNNING:
            return
        late = jid in self._late
        self._late.discard(jid)
        if late:
            why = f"it took longer than its time limit of {entry.job.time_limit:g} s"
            await self._finish(entry, lambda: short_return(entry, "failed", why, now=self._now()))
        elif outcome is not None:
            folder = self._runner.folder(jid)
            await self._finish(entry, lambda: whole_return(entry, outcome, folder, now=self._now()))
        elif entry.cancel:
            await self._finish(
                entry, lambda: short_return(entry, "cancelled", "it was killed", now=self._now())
            )
        else:
            asyncio.get_running_loop().call_soon(self._recover, entry)

    async def _finish(self, entry: Entry, parts: Callable[[], Iterable[Return | Records]]) -> None:
        """Keep a return. A disk that is full is waited for: what was done must not be lost."""
        while True:
            try:
                self._spool.finish(self._named(entry, parts()), self._now())
                break
            except SpoolFailed as problem:
                log.error("the return of job %s waits: %s", entry.jid, problem)
                await asyncio.sleep(self._retry)
        self._runner.folder(entry.jid).remove()
        if entry.local == LOCAL:
            self._spool.confirm(entry.jid, records=UNSENT)
        if self._supply:
            self._supply.release(entry.jid)
        self._returned(entry.jid)

    @staticmethod
    def _named(entry: Entry, parts: Iterable[Return | Records]) -> Iterable[Return | Records]:
        """The return of a job that no controller knows says what the job was."""
        for one in parts:
            if entry.local == REPORTED and isinstance(one, Return):
                yield replace(one, function=entry.job.function, by=entry.job.user)
            else:
                yield one

    def collect_records(self, jid: str) -> bool:
        """Keep what a worker has written of its run so far, to be sent; False if there is nothing new."""
        folder = self._runner.folder(jid)
        if not (files := folder.batches()):
            return False
        entry = self._spool.entry(jid)
        if entry is None or entry.local == LOCAL:
            return False
        self._spool.finish(kept_records(folder), self._now())
        for path in files:
            os.remove(path)
        return True

    # -- orders ----------------------------------------------------------------------------------

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
        for task in list(self._tasks.values()):
            await end(task)


def _pong(entry: Entry, now: float) -> Return:
    return Return(jid=entry.jid, status="returned", started=entry.started, ended=now, size=4, body=b"true")
