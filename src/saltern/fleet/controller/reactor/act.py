"""Carries out reactions as the principal ``reactor``: on systems, or on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.access.ports import Decision, Matcher, Principal, Request, Verdict
from saltern.fleet.controller.reactor.options import REACTOR
from saltern.fleet.controller.reactor.plan import Planned, Planner
from saltern.fleet.controller.reactor.runners import ReactionRunners
from saltern.fleet.controller.service import Fleet
from saltern.fleet.controller.submission import Submission, functions_of
from saltern.fleet.reactor.forms import Reaction
from saltern.fleet.runners.table import unknown_name
from saltern.fleet.store.reactions import DONE, FAILED, RUNNING
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.returner_names import return_options, returner_names


class Decider(Protocol):
    """Who may do what."""

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision: ...


class Acted(Struct, frozen=True, kw_only=True):
    """The result of a reaction: the job that it started, or why there is none."""

    jid: str = ""
    why: str = ""
    status: str = DONE


class Actor:
    """Carries out reactions; one row for each kind."""

    def __init__(
        self, fleet: Fleet, planner: Planner, runners: ReactionRunners, *, now: Callable[[], float]
    ) -> None:
        self.access: Decider | None = None  # set once the policy is loaded
        self._fleet = fleet
        self._planner = planner
        self.runners = runners
        self._now = now
        self._kinds: Mapping[str, Callable[[Planned, Reaction], Awaitable[Acted]]] = {
            "local": self._local,
            "caller": self._caller,
            "runner": self._runner,
            "wheel": self._runner,
        }

    async def act(self, planned: Planned, one: Reaction) -> Acted:
        """Carry out a reaction; an error is returned, never raised."""
        try:
            return await self._kinds[one.kind](planned, one)
        except OperationError as problem:
            return _failed_act("; ".join(found.what for found in problem.diagnostics))

    async def look(self, one: Reaction) -> tuple[list[str], str]:
        """The systems that a reaction matches now, and why it would be refused; nothing is done."""
        try:
            if one.kind != "local":
                await self._permit(one, f"{one.kind}.{one.function}")(())
                return [], unknown_name(one.kind, one.function) if one.kind in ("runner", "wheel") else ""
            systems = await self._fleet.resolve(one.target)
            if not systems:
                return [], f"no accepted system matches {one.target!r}"
            await self._permit(one)(tuple(systems))
            return systems, ""
        except OperationError as problem:
            return [], "; ".join(found.what for found in problem.diagnostics)

    async def _local(self, planned: Planned, one: Reaction) -> Acted:
        made = await self._fleet.submit(REACTOR, submission_of(planned, one), permit=self._permit(one))
        return Acted(jid=made.jid)

    async def _caller(self, _planned: Planned, one: Reaction) -> Acted:
        await self._permit(one, f"caller.{one.function}")(())
        result = await self._planner.call(one)
        return _failed_act(result.problem) if result.problem else Acted()

    async def _runner(self, planned: Planned, one: Reaction) -> Acted:
        """Start a runner without waiting for its end, since it may take long."""
        await self._permit(one, f"{one.kind}.{one.function}")(())
        if not self.runners.can_run:
            return _failed_act("this controller has no socket for runners to ask it by")
        jid = planned.jid(one)
        await self.runners.begin(one, jid)
        return Acted(jid=jid, status=RUNNING)

    def _permit(self, one: Reaction, function: str = "") -> Callable[[tuple[str, ...]], Awaitable[str]]:
        """The policy decides about reactions as about people; a reaction that would need approval is
        refused.
        """

        names = (function,) if function else functions_of(_submission(one))

        async def permit(systems: tuple[str, ...]) -> str:
            if self.access is None:
                return ""
            rules = [await self._rule(one, name, systems) for name in names]
            return rules[0]

        return permit

    async def _rule(self, one: Reaction, function: str, systems: tuple[str, ...]) -> str:
        """The rule that allows a function. Raises ``OperationError``."""
        test = bool(one.kwargs.get("test"))
        request = Request(action="jobs.submit", function=function, systems=systems, test=test)
        match, now = self._fleet.match, self._now()
        assert self.access is not None
        decision = await asyncio.to_thread(self.access.decide, REACTOR, request, match, now)
        if decision.verdict is not Verdict.ALLOWED:
            raise OperationError(Diagnostic(code="not-allowed", what=decision.why, fix=decision.fix))
        return decision.rule


def _failed_act(why: str) -> Acted:
    return Acted(why=why, status=FAILED)


def submission_of(planned: Planned, one: Reaction) -> Submission:
    """The job of a ``local`` reaction. Its token makes it one job, however often the event is read."""
    token = f"reaction-{planned.token(one)}"
    return replace(_submission(one), parent=planned.parent, client_token=token)


def _submission(one: Reaction) -> Submission:
    return Submission(
        function=one.function,
        target=one.target,
        args=one.args,
        kwargs=one.kwargs,
        test=bool(one.kwargs.get("test")),
        environment=str(one.kwargs.get("saltenv") or "base"),
        batch=str(one.options.get("batch") or one.options.get("batch_size") or ""),
        returners=returner_names(one.options.get("ret")),
        return_options=return_options(one.options.get("ret_config"), one.options.get("ret_kwargs")),
    )
