"""``Fleet``: the operations of a controller, for the API and the schedulers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Protocol

from msgspec.structs import replace

from saltern.fleet.bus.poke import Presence
from saltern.fleet.callbacks.reach import Destinations
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.desk import ChainDesk
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.health import Health
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.inventory import Inventory
from saltern.fleet.controller.job_events import job_new
from saltern.fleet.controller.registry import Registry
from saltern.fleet.controller.submission import (
    Submission,
    Submitted,
    audience,
    batch_of,
    check,
    delivery,
    lifetime,
    make_job,
)
from saltern.fleet.controller.target import expand, refuse, refuse_empty
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Progress
from saltern.fleet.protocol.notices import Notice
from saltern.fleet.reactor.ports import Reacts
from saltern.fleet.store import audit, job_queries
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.events import newest_event, store_events
from saltern.fleet.store.jobs import NewJob, cancel_job, create_job
from saltern.fleet.store.statuses import OPEN, WAITING
from saltern.fleet.store.systems import system
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.targeting.match import BadTarget

__all__ = ["Fleet", "Permit", "Principal", "Submission", "Submitted"]

PING = "test.ping"
Permit = Callable[[tuple[str, ...]], Awaitable[str]]


class Principal(Protocol):
    """The requester."""

    @property
    def name(self) -> str: ...


class Trees(Protocol):
    """The newest version of the files of an environment; empty if the controller has none."""

    async def newest(self, environment: str) -> str: ...


async def permit_all(_systems: tuple[str, ...]) -> str:
    """For callers that have already decided."""
    return ""


class Fleet:
    """The operations. Problems are ``OperationError``, each with a code."""

    def __init__(
        self,
        calls: Calls,
        inventory: Inventory,
        dispatcher: Dispatcher,
        registry: Registry,
        hub: Hub,
        *,
        now: Callable[[], float],
        trees: Trees | None = None,
    ) -> None:
        self.registry = registry
        self.hub = hub
        self.trees = trees
        self.health: Health | None = None
        self.progress: Callable[[str, str], Progress | None] = lambda _jid, _system: None
        self.chains: ChainDesk  # set by the code that makes the parts
        self.reactor: Reacts  # the same
        self.destinations = Destinations()
        self._calls = calls
        self._inventory = inventory
        self._dispatcher = dispatcher
        self._now = now

    @property
    def inventory(self) -> Inventory:
        """The systems for matching targets."""
        return self._inventory

    @property
    def database(self) -> Database:
        return self._calls.database

    # -- targets -----------------------------------------------------------------------------------

    async def resolve(self, target: str) -> list[str]:
        """The accepted systems that a target matches, by id."""
        return (await self._resolve(target))[0]

    async def _resolve(self, target: str) -> tuple[list[str], str]:
        """The ids, and the target without groups."""
        await self._inventory.refresh()
        try:
            expression = expand(target, self._inventory.groups)
            return self._inventory.select(expression), expression
        except BadTarget as problem:
            raise refuse(problem) from None

    def match(self, target: str, systems: Collection[str]) -> list[str]:
        """The given systems that a target matches, by the facts that were read last. Raises ``BadTarget``,
        which the policy reports in its own words.
        """
        return self._inventory.select(expand(target, self._inventory.groups), systems)

    async def poke(self, target: str) -> Presence:
        """Ask all systems of a target whether they are connected now."""
        return await self._dispatcher.poke(await self.resolve(target))

    # -- jobs --------------------------------------------------------------------------------------

    async def submit(self, who: Principal, ask: Submission, *, permit: Permit = permit_all) -> Submitted:
        """Store a job with its expected set, and send it.

        ``permit`` is called with the expected set before anything is written: it raises to refuse, and
        returns the rule that allows it.
        """
        check(ask)
        self._check_broker()
        if before := await self._known_job(who, ask):
            return replace(before, away=await self._dispatcher.away(before.expected))
        expected, expression = await self._resolve(ask.target)
        if not expected:
            known = await self._calls.read(system, ask.target)
            raise refuse_empty(ask.target, self._inventory.ids, known.state if known else "")
        left_out: dict[str, float | None] = {}
        if ask.wait == 0:
            expected, left_out = await self._present(expected)
        made = await self._send(who, ask, expected, expression, await permit(tuple(expected)))
        return replace(made, away={**left_out, **made.away}) if left_out else made

    def _check_broker(self) -> None:
        """Refuse a job whose returns could not be stored."""
        if self.health is not None and self.health.disk:
            what = f"no job is taken, because the disk of the broker is full: {self.health.disk}"
            fix = "free space on the disk of the controller; it continues by itself within seconds"
            raise OperationError(Diagnostic(code="fleet-broker-full", what=what, fix=fix))

    async def _present(self, expected: list[str]) -> tuple[list[str], dict[str, float | None]]:
        """The connected systems, and those that are away, with since when."""
        away = await self._dispatcher.away(expected)
        there = [system for system in expected if system not in away]
        if not there:
            what = f"all {len(expected)} systems that the target matches are away"
            if len(expected) == 1:
                what = f"the only system that the target matches is away: {expected[0]!r}"
            fix = "leave out `--wait 0` (of a request, 'wait: 0'), and they get it when they are back"
            raise OperationError(Diagnostic(code="fleet-all-away", what=what, fix=fix))
        return there, dict(away)

    async def _send(
        self, who: Principal, ask: Submission, expected: list[str], expression: str, rule: str
    ) -> Submitted:
        now = self._now()
        life = lifetime(ask)
        tree = ask.tree or await self._tree(ask)
        job = make_job(ask, new_jid(now), user=who.name, rule=rule, tree=tree)
        how = "each" if ask.batch else delivery(len(expected), expression)
        envelope = self._dispatcher.sign(job, audience(how, expected, expression), now=now, life=life)
        new = NewJob(
            job=job,
            target=ask.target,
            systems=tuple(expected),
            expires=now + life,
            envelope=envelope.decode(),
            broadcast=how == "all",
            client_token=ask.client_token,
            request=ask.request,
            batch=batch_of(ask),
            sent=frozenset() if ask.batch else self._dispatcher.online_agents(expected),
        )
        cursor = await self._calls.write(_write_job, new, now)
        if cursor is None:  # the same client token came twice at once, and the other call was first
            return await self.submit(who, ask)
        (self.hub.wake if ask.batch else self.hub.wake_for_jobs)()
        if ask.batch:  # each system gets it in turn
            away = await self._dispatcher.away(expected)
        else:
            away = await self._dispatcher.send(job.jid, expected, envelope, how, marked=new.sent)
        return Submitted(jid=job.jid, expected=expected, away=away, expires=now + life, cursor=cursor)

    async def _tree(self, ask: Submission) -> str:
        """The files for the job; an agent answers a ping itself, without files."""
        if self.trees is None or (ask.function == PING and not ask.returners):
            return ""
        return await self.trees.newest(ask.environment)

    async def _known_job(self, who: Principal, ask: Submission) -> Submitted | None:
        """The job of an earlier submission with the same client token."""
        if ask.client_token is None:
            return None
        return await self._calls.look(_find_job, who.name, ask.client_token)

    async def cancel(self, who: Principal, jid: str, *, hard: bool = False) -> dict[str, str]:
        """Cancel a job, with the jobs that it has started. For each system where it has not ended:
        ``cancelled`` (it never began), ``asked`` (the agent was asked to stop), or ``away`` (the agent gets
        it when it is back).
        """
        now = self._now()
        before = await self._calls.write(_cancel, jid, who.name, now, hard)
        if before is None:
            what, fix = f"there is no job {jid!r}", "saltern jobs lists them"
            raise OperationError(Diagnostic(code="fleet-job-unknown", what=what, fix=fix))
        self.hub.wake()
        reached = await self._dispatcher.cancel(jid, list(before), hard=hard)
        for child in await self._calls.read(job_queries.open_children, jid):
            await self.cancel(who, child, hard=hard)
        return {
            system: "cancelled" if status in WAITING else "asked" if system in reached else "away"
            for system, status in before.items()
        }

    # -- following ---------------------------------------------------------------------------------

    def follow(
        self, jid: str | None, *, after: int | None = None, systems: Collection[str] = ()
    ) -> AsyncIterator[Notice]:
        """Notices of a job, or events of the whole fleet; after a cursor, else from now on. ``systems``:
        those of the job, if they are known.
        """
        return self.hub.follow(jid, after, systems)


def _write_job(connection: Connection, new: NewJob, now: float) -> int | None:
    """The cursor before the job's own events; None if the job already existed."""
    cursor = newest_event(connection)
    if create_job(connection, replace(new, cursor=cursor), now) != new.job.jid:
        return None
    store_events(connection, [job_new(new.job, new.target, new.systems, now)])
    detail = {
        "jid": new.job.jid,
        "function": new.job.function,
        "target": new.target,
        "test": new.job.test,
        "systems": len(new.systems),
        "rule": new.job.rule,
        **({"batch": new.batch.size} if new.batch else {}),
    }
    audit.append(connection, new.job.user, "job.submit", detail, now)
    return cursor


def _find_job(connection: Connection, user: str, token: str) -> Submitted | None:
    found = job_queries.job_of_token(connection, user, token)
    if found is None:
        return None
    expected = sorted(job_queries.systems_of(connection, found.jid))
    return Submitted(
        jid=found.jid,
        expected=expected,
        expires=found.expires,
        known=True,
        cursor=found.cursor,
        request=found.request,
    )


def _cancel(connection: Connection, jid: str, who: str, now: float, hard: bool) -> dict[str, str] | None:
    """Mark the job as cancelled; return the systems where it has not ended, with their status before. None:
    no such job.
    """
    if job_queries.job(connection, jid) is None:
        return None
    before = {one.system: one.status for one in job_queries.targets(connection, jid) if one.status in OPEN}
    cancel_job(connection, jid, who, now)
    audit.append(connection, who, "job.cancel", {"jid": jid, "hard": hard, "open": len(before)}, now)
    return before
