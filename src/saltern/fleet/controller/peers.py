"""The service ``publish``: a system runs a function on other systems, or a runner on the controller.

The rule: a request that `peer` or `peer_run` of the configuration allows, and that no rule of the policy
forbids, becomes a job of the person ``system:ID``. All others are refused, counted and reported. An answer
has the job's number, with which the system asks for the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from saltern.fleet.access.peers import Order, PeerRules, entries_of, may_run, may_use
from saltern.fleet.access.ports import Decision, Matcher, Principal, Request, Verdict
from saltern.fleet.bus.service import Refuser
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.peer_runners import PeerRunners
from saltern.fleet.controller.reactor.returns import read_return
from saltern.fleet.controller.service import Fleet
from saltern.fleet.controller.submission import Submission
from saltern.fleet.protocol.messages import MESSAGES
from saltern.fleet.protocol.peer_messages import PublishAnswer, PublishRequest
from saltern.fleet.store import job_queries
from saltern.fleet.store.database import Connection
from saltern.fleet.store.peers import PREFIX, is_target_of, orders_above
from saltern.fleet.store.statuses import OPEN
from saltern.fleet.store.systems import NOT_ACCEPTED, is_accepted, system
from saltern.fleet.view.outcomes import shape_of
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.targeting.problem import BadTarget
from saltern.targeting.salt_types import compound_of

LARGEST = MESSAGES["publish-answer"].limit - 16 * 1024  # bytes of an answer
DEEPEST = 5  # length of a sequence of jobs in which each was requested by the one before
NOTHING = frozenset({"fleet-target-empty", "fleet-all-away"})  # no system is left to run it


class PeerOptions(Struct, frozen=True, kw_only=True):
    """What systems may run on others, and which runners."""

    publish: PeerRules = PeerRules()
    run: PeerRules = PeerRules()


class Decider(Protocol):
    """Who may do what."""

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision: ...


class PeerDesk:
    """Answers for one controller. ``access`` is set once the policy is loaded."""

    def __init__(
        self,
        calls: Calls,
        fleet: Fleet,
        runners: PeerRunners,
        options: PeerOptions,
        refused: Refuser,
        *,
        now: Callable[[], float],
    ) -> None:
        self.access: Decider | None = None
        self.runners = runners
        self._calls = calls
        self._fleet = fleet
        self._options = options
        self._now = now
        self._refused = refused

    async def answer(self, id_: str, request: PublishRequest) -> PublishAnswer:
        """Answer a system; the broker vouches for its id."""
        known = await self._calls.read(system, id_)
        if not is_accepted(known):
            return PublishAnswer(problem=NOT_ACCEPTED)
        try:
            return await self._answer(id_, request)
        except BadTarget as problem:
            return PublishAnswer(problem=problem.what)
        except OperationError as problem:
            found = problem.diagnostics[0]
            if found.code in NOTHING:
                return PublishAnswer(done=True)
            if found.code == "not-allowed":
                return self._refuse(id_, request, found.what)
            return PublishAnswer(problem=found.what)

    async def _answer(self, id_: str, request: PublishRequest) -> PublishAnswer:
        if request.jid is not None:
            look = self.runners.look if request.runner else self._look
            return await look(id_, request.jid)
        if request.runner:
            return await self._run(id_, request)
        return await self._publish(id_, request)

    def _refuse(self, id_: str, request: PublishRequest, why: str) -> PublishAnswer:
        what = f"the runner {request.function}" if request.runner else request.function
        on = "" if request.runner else f" on {request.target!r}"
        self._refused(id_, "peer", f"it asks for {what}{on}: {why}")
        return PublishAnswer(refused=f"{what}{on}: {why}"[:8000])

    # -- functions on systems ----------------------------------------------------------------------

    async def _publish(self, id_: str, request: PublishRequest) -> PublishAnswer:
        if not entries_of(self._options.publish, id_):
            return self._refuse(
                id_, request, "no row of 'peer' in the controller's configuration applies to it"
            )
        if request.function.startswith("publish."):
            return self._refuse(id_, request, "a published function cannot publish")
        if "," in request.function:
            return self._refuse(id_, request, "only one function at a time can be published")
        parent = await self._calls.read(_parent_of, id_, request.parent)
        if parent and await self._calls.read(orders_above, parent) >= DEEPEST:
            return self._refuse(id_, request, f"{DEEPEST} jobs of systems have led to it: it calls itself")

        async def permit(systems: tuple[str, ...]) -> str:
            return await self._permit(id_, request, systems)

        made = await self._fleet.submit(principal(id_), submission_of(request, parent), permit=permit)
        return PublishAnswer(jid=made.jid, systems=made.expected)

    async def _permit(self, id_: str, request: PublishRequest, systems: tuple[str, ...]) -> str:
        """`peer` must allow it for every system, and the policy must not forbid it."""

        def has_all(target: str) -> bool:
            try:
                return set(self._fleet.match(target, systems)) >= set(systems)
            except (BadTarget, CompileError, OperationError):
                return False

        order = Order(function=request.function, args=request.args, kwargs=request.kwargs)
        if not may_run(self._options.publish, id_, order, has_all):
            raise _not_allowed("no row of 'peer' in the controller's configuration allows it")
        return await self._by_policy(id_, request.function, systems, test=bool(request.kwargs.get("test")))

    async def _by_policy(self, id_: str, function: str, systems: tuple[str, ...], *, test: bool) -> str:
        """The rule that allows it. A request that would need approval is refused."""
        if self.access is None:
            return "peer"
        ask = Request(action="jobs.submit", function=function, systems=systems, test=test)
        decide = self.access.decide
        decision = await asyncio.to_thread(decide, principal(id_), ask, self._fleet.match, self._now())
        if decision.verdict is not Verdict.ALLOWED:
            raise _not_allowed(decision.why)
        return decision.rule or "peer"

    async def _look(self, id_: str, jid: str) -> PublishAnswer:
        """The results of a job that this system requested."""
        found = await self._calls.read(_returns, PREFIX + id_, jid)
        return found or PublishAnswer(problem=f"this system has not requested a job {jid}")

    # -- runners -----------------------------------------------------------------------------------

    async def _run(self, id_: str, request: PublishRequest) -> PublishAnswer:
        order = Order(function=request.function, args=request.args, kwargs=request.kwargs)
        if not may_use(self._options.run, id_, request.function):
            return self._refuse(
                id_, request, "no row of 'peer_run' in the controller's configuration allows it"
            )
        await self._by_policy(id_, f"runner.{request.function}", (), test=False)
        parent = await self._calls.read(_parent_of, id_, request.parent)
        return PublishAnswer(jid=await self.runners.begin(principal(id_), order, parent or ""))


def principal(id_: str) -> Principal:
    """A system as the person of a job. `peer` decides what it may do; rules with its name restrict it
    further.
    """
    return Principal(name=f"{PREFIX}{id_}", roles=("admin",), via="internal")


def submission_of(request: PublishRequest, parent: str | None) -> Submission:
    """The job. Systems that are away are left out: the requesting system does not wait for them."""
    return Submission(
        function=request.function,
        target=compound_of(request.target, request.matcher),
        args=request.args,
        kwargs=request.kwargs,
        test=bool(request.kwargs.get("test")),
        environment=str(request.kwargs.get("saltenv") or "base"),
        wait=0,
        parent=parent,
    )


def _not_allowed(why: str) -> OperationError:
    return OperationError(Diagnostic(code="not-allowed", what=why))


def _parent_of(connection: Connection, id_: str, parent: str | None) -> str | None:
    """The requesting job, if it runs on this system."""
    return parent if parent and is_target_of(connection, parent, id_) else None


def _returns(connection: Connection, user: str, jid: str) -> PublishAnswer | None:
    job = job_queries.job(connection, jid)
    if job is None or job.user != user:
        return None
    rows = {row.system: row for row in job_queries.targets(connection, jid)}
    ended = [name for name, row in rows.items() if row.status not in OPEN]
    returns: dict[str, Any] = {}
    room = LARGEST
    for name in ended:
        shown = _shown_return(connection, job.function, rows[name])
        size = len(msgspec.json.encode(shown)) + len(name) + 8
        fits = size <= room
        returns[name] = shown if fits else {"ret": f"too large to be shown: see job {jid}"}
        room -= size if fits else 0
    return PublishAnswer(jid=jid, systems=[*rows], returns=returns, done=len(ended) == len(rows))


def _shown_return(connection: Connection, function: str, row: job_queries.TargetRow) -> dict[str, Any]:
    """What a system returned; if it returned nothing, why."""
    has_body = job_queries.body_sizes(connection, row.jid, [row.system]).get(row.system)
    value = read_return(connection, row.jid, row.system) if has_body else row.why or row.status
    return {"ret": value, **({"out": "highstate"} if shape_of(function) == "states" else {})}
