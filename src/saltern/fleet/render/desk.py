"""The service ``render``: renders files and blocks of a system's own open jobs, as data.

A system may ask, for its own jobs that have not ended, for files of the job's tree that are rendered here,
and for blocks in earlier answers. Anything else is refused and counted. An answer is kept, sealed, until the
job ends: the same request gets the same answer, even after a broken connection. The text of blocks is kept as
long, in the database, so that another controller can answer; then it is removed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.protocol.messages import Job, RenderAnswer, RenderRequest
from saltern.fleet.protocol.seal import SealedFor, seal
from saltern.fleet.render.pool import RenderPool
from saltern.fleet.render.sessions import RunSessions, run_name
from saltern.fleet.render.task import SESSION, RenderResult, RenderTask
from saltern.fleet.render.wire import BadPack, pack, purpose_of, unpack
from saltern.fleet.store.database import Connection
from saltern.fleet.store.facts import facts_of
from saltern.fleet.store.render_scopes import (
    Asker,
    asker_of,
    has_scopes,
    keep_scopes,
    open_runs,
    remove_ended,
    scopes_of,
)
from saltern.fleet.store.statuses import OPEN
from saltern.fleet.store.systems import NOT_ACCEPTED, System, is_accepted, system
from saltern.language.diagnostics import OperationError
from saltern.render.remote import Question

log = logging.getLogger(__name__)

LARGEST = 600 * 1024  # bytes of a sealed answer, so that it is one message
MOST_FRAMES = 1000  # requests of one run that are answered
FRESH = (
    1.0  # seconds for which the status of an open job is cached: another controller may have stored its end
)
APART = 0.5  # minimum seconds between two rounds that discard what has ended, however many jobs end
TRIES = 3  # a process may lack the session, then a scope
Run = tuple[str, str]  # a job and a system


class Calls(Protocol):
    """Transactions, off the event loop."""

    async def read(self, query: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...

    async def look(self, query: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...

    async def write(self, change: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...


class Report(Protocol):
    """Reports to operators why something was not rendered."""

    def __call__(self, id: str, jid: str, what: str, detail: str) -> Awaitable[None]: ...


class RefusedQuestion(Exception):
    """A request that the system may not make; the text is its answer."""


class _Known(Struct, frozen=True):
    """A system that asks, and its job; ``given`` is pillar that the system has beside the files."""

    system: System
    job: Job
    grains: tuple[str, bytes]
    given: dict[str, Any] = {}


class RenderDesk:
    """Answers for one controller. ``refused`` is called with the system, one word and the reason."""

    def __init__(
        self,
        calls: Calls,
        sessions: RunSessions,
        *,
        fleet: str,
        now: Callable[[], float],
        refused: Callable[[str, str, str], None],
        report: Report,
        pool: RenderPool | None = None,
        most: int = MOST_FRAMES,
    ) -> None:
        self.pool = pool or RenderPool()
        self._calls = calls
        self._sessions = sessions
        self._fleet = fleet
        self._now = now
        self._refused = refused
        self._report = report
        self._most = most
        self._secret = secrets.token_bytes(32)
        self._answers: dict[Run, dict[str, asyncio.Task[RenderAnswer]]] = {}
        self._fresh: dict[Run, tuple[float, _Known]] = {}
        self._asked: set[Run] = set()  # runs that processes have state for
        self._ended = asyncio.Event()

    async def answer(self, id_: str, request: RenderRequest) -> RenderAnswer:
        """Answer a system; the broker guarantees its id."""
        try:
            known = await self._known_run(id_, request.jid)
            question = _question(request)
            return await self._answer(known, request, question)
        except RefusedQuestion as problem:
            self._refused(id_, "render", f"job {request.jid}: {problem}")
            return RenderAnswer(problem=f"refused: {problem}")
        except OperationError as problem:
            return RenderAnswer(problem=str(problem.diagnostics[0].what))

    async def answer_host(self, id_: str, question: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """Answer a system without an agent, over its connection. ``given`` is its pillar in the roster."""
        request = RenderRequest(nonce="-", jid=str(question.get("jid", "")), question=_pack(question))
        try:
            known = msgspec.structs.replace(await self._known_run(id_, request.jid), given=given)
            run = (request.jid, id_)
            result = await self._result(
                known, run, _question(request), _name(self._secret, run, known, request)
            )
        except RefusedQuestion as problem:
            self._refused(id_, "render", f"job {request.jid}: {problem}")
            return {"problem": f"refused: {problem}"}
        except OperationError as problem:
            return {"problem": str(problem.diagnostics[0].what)}
        return {"sent": base64.b64encode(result.sent).decode()}

    async def _known_run(self, id_: str, jid: str) -> _Known:
        """The system that asks, and its job; kept for a moment, unless something was stored meanwhile."""
        before = self._fresh.get((jid, id_))
        if before is not None and time.monotonic() - before[0] < FRESH:
            return before[1]
        known = await self._looked_up(id_, jid)
        self._fresh[jid, id_] = (time.monotonic(), known)
        return known

    async def _looked_up(self, id_: str, jid: str) -> _Known:
        found, asker, grains = await self._calls.read(_look, id_, jid)
        if not is_accepted(found):
            raise RefusedQuestion(NOT_ACCEPTED)
        if not asker.status:
            raise RefusedQuestion("it is not a job of this system")
        if asker.status not in OPEN - {"held"}:
            raise RefusedQuestion(f"the job is {asker.status} on this system")
        return _Known(found, msgspec.json.decode(asker.work, type=Job), grains)

    async def _answer(self, known: _Known, request: RenderRequest, question: Question) -> RenderAnswer:
        """The earlier answer to the same request of this job, or a new one."""
        run = (request.jid, known.system.id)
        answers = self._answers.setdefault(run, {})
        name = _name(self._secret, run, known, request)
        task = answers.get(name)
        if task is None:
            if len(answers) >= self._most:
                raise RefusedQuestion(f"it has already made {self._most} requests for this job")
            task = answers[name] = asyncio.create_task(self._render(known, run, question, name))
            task.add_done_callback(lambda done: self._on_done(run, name, done))
        return await asyncio.shield(task)

    def _on_done(self, run: Run, name: str, task: asyncio.Task[RenderAnswer]) -> None:
        """Only what was rendered is kept."""
        failed = task.cancelled() or task.exception() is not None or not task.result().sealed
        if failed and self._answers.get(run, {}).get(name) is task:
            del self._answers[run][name]

    # -- rendering ---------------------------------------------------------------------------------

    async def _render(self, known: _Known, run: Run, question: Question, name: str) -> RenderAnswer:
        result = await self._result(known, run, question, name)
        bound = SealedFor(fleet=self._fleet, system=run[1], purpose=purpose_of(run[0]))
        box = seal(pack(result.sent), known.system.sealing_key, bound)
        if len(box) > LARGEST:
            return RenderAnswer(problem=f"the answer has {len(box):,} bytes, and {LARGEST:,} can be sent")
        return RenderAnswer(sealed=box)

    async def _result(self, known: _Known, run: Run, question: Question, name: str) -> RenderResult:
        """The result of a request; its blocks are stored. Raises ``RefusedQuestion``."""
        if question.name and not await self._sessions.is_hidden(known.job, question):
            raise RefusedQuestion(f"{question.name!r} is not rendered on the controller")
        result = await self._asked_process(known, run, question, name)
        if result.refused:
            raise RefusedQuestion(result.refused)
        if result.detail:
            self._answers.get(run, {}).pop(name, None)  # the same question may be answered better later
            await self._report(run[1], run[0], _what(question), result.detail)
        if result.scope:
            await self._calls.write(keep_scopes, run, {name: result.scope}, self._now())
        return result

    async def _scopes(self, run: Run, question: Question) -> dict[str, bytes]:
        """The scope that a question names, as it was kept. Raises ``RefusedQuestion`` for a foreign one."""
        if not question.scope:
            return {}
        scopes: dict[str, bytes] = await self._calls.read(scopes_of, run, [question.scope])
        if question.scope not in scopes:
            raise RefusedQuestion("it names a block of another job or system")
        return scopes

    async def _asked_process(self, known: _Known, run: Run, question: Question, name: str) -> RenderResult:
        """The process has scopes by the run, so a foreign one is never found there."""
        self._asked.add(run)
        key = self._sessions.key(known.job, known.system.id, known.grains[0], question)
        task = RenderTask(key=key, question=msgspec.msgpack.encode(question), name=name)
        result = await self.pool.render(task)
        for _ in range(TRIES):
            if not result.lacks:
                break
            scopes = await self._scopes(run, question)
            if result.lacks == SESSION:
                options = await self._sessions.options(
                    known.job, known.system.id, known.grains[1], key, known.given
                )
                task = msgspec.structs.replace(task, run=options, scopes=scopes)
            else:
                task = msgspec.structs.replace(task, scopes=scopes)
            result = await self.pool.render(task)
        return result

    # -- the end of jobs ---------------------------------------------------------------------------

    def wake(self) -> None:
        """A job may have ended."""
        self._fresh.clear()
        self._ended.set()

    async def run(self, every: float = 5.0) -> None:
        """Discard what belongs to jobs that have ended, for ever."""
        while True:
            await is_set_within(self._ended, every)
            self._ended.clear()
            try:
                await self.discard_ended()
            except OperationError as problem:
                log.warning("blocks of jobs that have ended are not removed yet: %s", problem)
            await asyncio.sleep(APART)

    async def discard_ended(self) -> None:
        """Discard the answers and the blocks of jobs that have ended."""
        self._fresh.clear()
        known = self._asked | set(self._answers)
        if known:
            gone = known - set(await self._calls.read(open_runs, list(known)))
            self._answers = {run: found for run, found in self._answers.items() if run not in gone}
            self._asked -= gone
            names = [run_name(*run) for run in gone]
            self._sessions.discard(names)
            await self.pool.discard(names)
        if await self._calls.look(has_scopes):
            await self._calls.write(remove_ended)

    async def close(self) -> None:
        for answers in self._answers.values():
            for task in answers.values():
                task.cancel()
        await self.pool.close()


def _look(connection: Connection, id_: str, jid: str) -> tuple[System | None, Asker, tuple[str, bytes]]:
    return (
        system(connection, id_),
        asker_of(connection, jid, id_),
        facts_of(connection, [id_]).get(id_, ("", b"")),
    )


def _question(request: RenderRequest) -> Question:
    try:
        return msgspec.msgpack.decode(unpack(request.question), type=Question)
    except (BadPack, msgspec.DecodeError, RecursionError):
        raise RefusedQuestion("the question is malformed") from None


def _pack(question: dict[str, Any]) -> bytes:
    """The question of a worker, as an agent sends it."""
    try:
        return pack(base64.b64decode(str(question.get("question", "")), validate=True))
    except binascii.Error:
        return b""


def _what(question: Question) -> str:
    return f"block {question.block!r}" if question.block else f"salt://{question.name}"


def _name(secret: bytes, run: Run, known: _Known, request: RenderRequest) -> str:
    """A keyed digest of all inputs of an answer, which reveals nothing about them."""
    parts = [run, known.system.sealing_key, known.job.tree, known.grains[0], request.question]
    return hmac.digest(secret, msgspec.msgpack.encode(parts), "sha256").hex()[:32]
