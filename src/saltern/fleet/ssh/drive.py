"""Drives one job on one host: connects, sends what is missing, starts it, follows it, and reconnects after a
cut.

The host does the job even if this process ends. So a cut is not a failure: repeating the request finds the
job.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from msgspec import Struct

from saltern.fleet.files.manifest import decode_index
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.bundle.target import Target, target_of
from saltern.fleet.ssh.frames import Frame
from saltern.fleet.ssh.pillar import HostPillar
from saltern.fleet.ssh.pool import Limits, on_each
from saltern.fleet.ssh.problems import PROBLEMS, Unreached
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.session import Introduction, Session, open_session
from saltern.fleet.ssh.transport.ports import Secrets, Transport
from saltern.fleet.ssh.tree import JobFiles
from saltern.language.diagnostics import OperationError

T = TypeVar("T")
log = logging.getLogger(__name__)
PATIENCE = 900.0  # seconds that a host may be away in the middle of a job
MOST_EARLY_CUTS = 3  # attempts at a host that accepted the login, before the job was begun there
STEPS = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds between attempts


Answers = Callable[[Host, dict[str, Any]], Awaitable[dict[str, Any]]]


async def no_fleet(_host: Host, _question: dict[str, Any]) -> dict[str, Any]:
    """The answers to a host without a controller: the mine is empty, and events go nowhere."""
    return {"data": {}, "unheard": True}


class Work(Struct, frozen=True, kw_only=True):
    """The work for every host: the task, and its tree.

    ``begun``: it was begun before, so that a host that does not know it must not begin it again. ``keep``
    stores a message with records of its journal; without it they stay on the host. ``render`` answers for
    files of which the host has only stubs, ``fleet`` about the mine, and takes events.
    """

    task: dict[str, Any]
    tree: JobFiles | None = None
    pillar: HostPillar | None = None
    render: Answers | None = None
    fleet: Answers | None = None
    patience: float = PATIENCE
    steps: tuple[float, ...] = STEPS
    begun: bool = False
    keep: Callable[[bytes], Awaitable[None]] | None = None


class Done(Struct, frozen=True, kw_only=True):
    """How a job ended on a host. ``body`` is packed as ``encoding`` says."""

    status: str
    why: str = ""
    code: int = 0
    changed: int = 0
    failed: int = 0
    encoding: str = "json"
    size: int = 0
    body: bytes = b""
    problem: str = ""


class Reach(Struct, frozen=True):
    """How hosts are reached, and what is brought to them."""

    transport: Transport
    secrets: Secrets
    limits: Limits
    bundles: Bundles

    async def on_each(self, hosts: Iterable[Host], work: Callable[[Host], Awaitable[T]]) -> dict[str, T]:
        """What the work gives on each host, by id; the connections are closed after the last one."""
        try:
            return await on_each(hosts, work, self.limits)
        finally:
            await self.transport.close()


Progress = Callable[[str, dict[str, Any]], None]


class Drive:
    """Drives one job on one host. ``on_progress`` is called for each step and each pause."""

    def __init__(self, host: Host, work: Work, reach: Reach, on_progress: Progress) -> None:
        self._host = host
        self._work = work
        self._reach = reach
        self._on_progress = on_progress
        self._session: Session | None = None
        self._begun = False
        self._early_cuts = 0
        self._why = ""
        self._cancelled: bool | None = None

    async def run(self) -> Done:
        """Run the job, and return how it ended; problems of the host or the network are not raised."""
        attempt, lost_at = 0, 0.0
        while True:
            try:
                return await self._attempt()
            except Unreached as problem:
                lost_at = lost_at or time.monotonic()
                if not self._is_worth_another(problem, lost_at):
                    return self._given_up(problem)
                self._why = str(problem)
            except OperationError as problem:
                return Done(status="failed", why=str(problem), code=1, problem="bundle")
            if self._session is not None:
                attempt, self._session = 0, None
            self._on_progress("away", {"why": self._why})
            delay = self._work.steps[min(attempt, len(self._work.steps) - 1)]
            attempt += 1
            await asyncio.sleep(delay * random.uniform(0.8, 1.2))

    def _is_worth_another(self, problem: Unreached, lost_at: float) -> bool:
        """True after a cut in the middle of the job, within the time limit; before it, only a few times."""
        if not PROBLEMS[problem.kind].again:
            return False
        if not self._begun:
            self._early_cuts += 1
            return self._session is not None and self._early_cuts <= MOST_EARLY_CUTS
        return time.monotonic() - lost_at < self._work.patience

    def _given_up(self, problem: Unreached) -> Done:
        why = str(problem.diagnostic())
        if self._begun:
            return Done(
                status="indeterminate", why=f"it was begun, and then: {why}", code=2, problem=problem.kind
            )
        return Done(status="failed", why=why, code=2, problem=problem.kind)

    async def _attempt(self) -> Done:
        async with self._reach.limits.room(self._host), self._open() as session:
            self._session = session
            await enter(session, self._reach.bundles, self._say)
            tree = self._work.tree
            self._begun = True  # from here on it may be
            files = {"tree": tree.digest, "roots": tree.roots} if tree is not None else {}
            pillar = self._work.pillar.known_pillar(self._host) if self._work.pillar is not None else None
            start = {"do": "start", "task": self._work.task, "pillar": pillar, "begun": self._work.begun}
            await session.send({**start, **files, "records": self._work.keep is not None})
            if self._cancelled is not None:
                await self.cancel(hard=self._cancelled)
            return await self._follow(session)

    def _say(self, state: str) -> None:
        """Report what happens before the job begins."""
        if not self._begun:
            self._on_progress("preparing", {"state": state})

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Session]:
        self._say("connecting")
        session = await open_session(self._host, self._reach.transport, self._reach.secrets)
        try:
            yield session
        finally:
            await session.close()

    async def _follow(self, session: Session) -> Done:
        while True:
            frame = await session.receive()
            if frame.head.get("is") == "done":
                return _read_done(frame)
            if frame.head.get("is") == "lost":
                why = frame.head.get("why") or "its worker was killed, and the function is not repeated"
                return Done(status="indeterminate", why=why, code=2)
            await self._take(session, frame)

    async def _take(self, session: Session, frame: Frame) -> None:
        kind = frame.head.get("is")
        if kind in ("begun", "progress", "paused"):
            self._on_progress(kind, frame.head)
        elif kind == "need":
            await self._bring(session, frame.head)
        elif kind == "question":
            await self._answer(session, frame.head)
        elif kind == "records" and self._work.keep is not None:
            await self._work.keep(frame.body)
            await session.send({"do": "stored"})
        else:
            raise Unreached("garbage", f"a message {kind!r}")

    async def _bring(self, session: Session, head: dict[str, Any]) -> None:
        """Send the index and all manifests, or contents that the host lacks, in the order that it named."""
        tree = self._work.tree
        if tree is None:
            raise Unreached("garbage", "it asks for files of a job that has none")
        if "manifests" in head:
            index = await tree.manifest(head["manifests"])
            await session.send({"do": "manifest"}, index)
            for digest in dict.fromkeys(decode_index(index).environments.values()):
                await session.send({"do": "manifest"}, await tree.manifest(digest))
        for digest in head.get("contents", ()):
            async for data, more in tree.parts(digest):
                await session.send({"do": "content", "more": more}, data)

    def _answers_to(self, ask: object) -> Answers | None:
        """The function that answers this kind of request in one message; None if there is none."""
        pillar, fleet = self._work.pillar, self._work.fleet or no_fleet
        answers = {"pillar": pillar.answer if pillar is not None else None, "render": self._work.render}
        return {**answers, "mine": fleet, "event": fleet}.get(str(ask))

    async def _answer(self, session: Session, head: dict[str, Any]) -> None:
        question, number, tree = head["question"], head["number"], self._work.tree
        if (answers := self._answers_to(question.get("ask"))) is not None:
            answer = await answers(self._host, question)
            return await session.send({"do": "answer", "number": number, "answer": answer})
        if question.get("ask") != "content" or tree is None or not await tree.has(question["digest"]):
            problem = "the caller does not have that"
            return await session.send(
                {"do": "answer", "number": number, "answer": {"problem": problem}, "problem": problem}
            )
        async for data, more in tree.parts(question["digest"]):
            await session.send({"do": "answer", "number": number, "more": more}, data)
        return None

    async def cancel(self, *, hard: bool) -> None:
        """Have the job end before its next state, or at once."""
        self._cancelled = hard
        if self._session is not None:
            await self._session.send({"do": "cancel", "hard": hard})


async def enter(session: Session, bundles: Bundles, say: Callable[[str], None] = lambda _state: None) -> None:
    """Send the bundle if the host lacks it, and start the program in it."""
    host, found = session.host.id, session.introduction
    version = ".".join(map(str, found.python))
    log.info(
        "%s: Python %s (%s), user %d, directory %s", host, version, found.executable, found.uid, found.base
    )
    wanted = bundles.request(target_for(found))
    if not wanted.done():
        say("preparing what is sent")
    bundle = await asyncio.wrap_future(wanted)
    if bundle.digest not in found.bundles:
        say(f"sending saltern, {len(bundle.data) / 1e6:.1f} MB")
        log.info("%s: sending saltern, %.1f MB", host, len(bundle.data) / 1e6)
        named = {"do": "bundle", "digest": bundle.digest, "sum": bundle.sum}
        answer = await session.ask(named, bundle.data)
        if problem := answer.head.get("problem"):
            raise Unreached("no-space" if "space" in problem else "no-directory", problem)
    await session.send({"do": "enter", "digest": bundle.digest})


def target_for(found: Introduction) -> Target:
    return target_of(found.python, found.machine, found.libc, found.code)


def _read_done(frame: Frame) -> Done:
    head = frame.head
    code = int(head.get("code", 0))
    return Done(
        status="failed" if code not in (0, 4) else "returned",
        why=str(head.get("why", "")),
        code=code,
        changed=int(head.get("changed", 0)),
        failed=int(head.get("failed", 0)),
        encoding=str(head.get("encoding", "json")),
        size=int(head.get("size", 0)),
        body=frame.body,
    )
