"""The agent: one identity on one bus. It listens, syncs, runs jobs in workers, and sends their returns.

Many agents may run in one process: everything that an agent uses is passed to it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

import saltern
from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.beacons.loop import Beacons
from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.agent.events import EventBox
from saltern.fleet.agent.facts import FactsSender
from saltern.fleet.agent.inbox import Inbox
from saltern.fleet.agent.intake import denied_by
from saltern.fleet.agent.jobs import Jobs
from saltern.fleet.agent.local_tree import LocalTree
from saltern.fleet.agent.orders import Orders
from saltern.fleet.agent.outbox import Outbox
from saltern.fleet.agent.prune import Pruner
from saltern.fleet.agent.refusals import Refusals
from saltern.fleet.agent.renewal import Home, Renewal
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.scheduler import Scheduler
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.supply import JobSupply
from saltern.fleet.agent.sync import Syncer
from saltern.fleet.agent.watch import Watch
from saltern.fleet.agent.worker_task import WorkerSettings
from saltern.fleet.bus.ports import Bus, BusError, Change, State
from saltern.fleet.bus.ports import Message as Arrived
from saltern.fleet.bus.tasks import end
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.manifest import tree_digest
from saltern.fleet.identity.jwt import BadJwt
from saltern.fleet.identity.membership import Membership
from saltern.fleet.pillar.agent import AgentPillar
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.messages import Alive, Away, Signed, SyncAnswer, SyncRequest
from saltern.fleet.protocol.sealed_inputs import open_arguments
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.protocol.withdrawal import newly_withdrawn
from saltern.fleet.render.agent import AgentRender
from saltern.system.own_files import are_elsewhere, were_replaced

log = logging.getLogger(__name__)

CLOSED = "closed the connection"  # as it does when it refuses, sometimes before it has sent the reason
REFUSED = "authorization violation"  # the broker's answers to a credential that it does not accept
AGAIN = 5.0  # seconds after which a part of the agent that failed is started again


async def _run_for_ever(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a part of the agent for ever: if a full disk or a defect ended it, the agent would stop reacting
    without any sign.
    """
    while True:
        try:
            return await loop()
        except (SpoolFailed, OSError) as problem:
            log.error("%s; trying again in %.0f s", problem, AGAIN)
        except Exception:
            log.exception("a part of the agent failed; it is started again in %.0f s", AGAIN)
        await asyncio.sleep(AGAIN)


HAPPENED = {
    State.CONNECTED: "connected",
    State.LOST: "the connection to the broker is lost",
    State.RETRY: "no connection to the broker, it tries again by itself",
    State.DROPPED: "messages were dropped",
    State.REFUSED: "the broker refuses something",
}


def connection_problem(why: str) -> str:
    """Why there is no connection, and what to do if the broker refuses this machine."""
    if not any(one in why.lower() for one in (REFUSED, CLOSED)):
        return why
    return f"{why}; was its key revoked? `saltern fleet keys` on the controller shows that, and restores it"


class AgentOptions(Struct, frozen=True, kw_only=True):
    """What an agent has besides its identity and its bus. Without ``files`` it fetches none, without
    ``sealing`` it asks for no pillar, and without ``home`` its credential is never renewed.
    """

    settings: WorkerSettings = WorkerSettings()
    files: AgentFiles | None = None
    sealing: SealingKey | None = None
    pillar_path: str = ""
    facts_path: str = ""
    jobs_folder: str = ""
    boot: str = ""
    sites: tuple[str, ...] = ()
    denied: Callable[[], tuple[str, ...]] = lambda: ()
    home: Home | None = None


class Agent:
    """One agent; ``start`` connects and starts its parts, ``close`` ends them."""

    def __init__(
        self,
        member: Membership,
        bus: Bus,
        spool: Spool,
        runner: Runner,
        options: AgentOptions | None = None,
    ) -> None:
        options = options or AgentOptions()
        self.member, self.bus, self.spool, self.options = member, bus, spool, options
        self.instance = secrets.token_hex(8)
        self.stop = asyncio.Event()  # set to end the agent
        self.outdated = False  # another build of this program has replaced this one
        self._prefix = os.path.realpath(sys.prefix)
        self.disconnected = ""  # why the last attempt to connect failed
        self.clock = FleetClock(latest=float(spool.get("latest") or 0))
        now, settings, denied = self.clock.now, options.settings, options.denied
        self.files = options.files
        self.outbox, self.refusals = Outbox(bus, spool, member.id, now), Refusals(bus, member, now, spool)
        self.jobs = Jobs(
            spool,
            runner,
            now=now,
            begun=lambda _jid: self.watch.wake(),
            returned=self._on_return,
            settings=settings,
            supply=JobSupply(self.files, settings.socket) if self.files else None,
            denied=denied,
            open_arguments=lambda given: open_arguments(given, options.sealing, member.fleet, member.id),
        )
        self.inbox = Inbox(
            spool,
            self.clock,
            me=member.id,
            trust=member.trust,
            matches=self.is_meant,
            refuse=self.refusals.refuse,
            denied=denied,
        )
        self.syncer = Syncer(bus, self, self.clock, id=member.id, trust=lambda: self.inbox.trust)
        self.ask = Asker(bus, self.clock, id=member.id, trust=lambda: self.inbox.trust)
        self.events = EventBox(bus, spool.events, member.id, now, ask=self.syncer.wake)
        self.pillar = _pillar(self.ask, member, options)
        self.render = _render(self.ask, member, options)
        self.facts = FactsSender(self.ask, runner, spool, settings, options.facts_path, self.files)
        self.watch = Watch(
            bus,
            runner,
            member.id,
            running=lambda: self.jobs.running,
            away=self.announce_away,
            now=now,
            collect=self._collect_records,
        )
        self.beacons = Beacons(member.id, self.events.add, busy=lambda: self.jobs.changing)
        self.scheduler = Scheduler(
            spool,
            runner,
            settings,
            denied=lambda job: denied_by(job, denied()),
            added=self.jobs.wake,
            tree=LocalTree(self.files, spool, settings.socket),
            beacons=self.beacons.use,
        )
        self.orders = Orders(self)
        self.pruner = Pruner(spool, runner, options.jobs_folder, now)
        self.renewal = Renewal(options.home, bus, now) if options.home else None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Listen, sync, send and work, until ``close``."""
        self.bus.watch(self._on_change)
        id = self.member.id
        jobs = [SUBJECTS["job"].of(id=id), SUBJECTS["job-all"].of()]
        for subject in [*jobs, *(SUBJECTS["job-site"].of(site=site) for site in self.options.sites)]:
            await self.bus.subscribe(subject, self._on_job)
        await self.bus.subscribe(SUBJECTS["control"].of(id=id), self.orders.arrive)
        if self.files is not None:
            self.files.release_others([entry.jid for entry in self.spool.open_jobs()])
        self.jobs.recover()
        parts = (self.syncer, self.outbox, self.jobs, self.facts, self.watch, self.scheduler, self.pruner)
        loops = [*(part.run for part in parts), self.events.run, self.beacons.run]
        if self.renewal is not None:
            loops.append(self.renewal.run)
        for loop in loops:
            self._tasks.append(asyncio.create_task(_run_for_ever(loop)))

    async def close(self) -> None:
        """Stop. Workers continue, and the next agent finds them."""
        for task in self._tasks:
            await end(task)
        await self.refusals.close()
        await self.jobs.close()

    def is_meant(self, expression: str) -> bool:
        """True if a target expression matches this machine, by its last known facts."""
        from saltern.targeting.match import BadTarget, Subject, matches

        try:
            return matches(Subject(id=self.member.id, grains=self.facts.read()), expression)
        except BadTarget as problem:
            log.warning("a target cannot be read: %s", problem)
            return False

    # -- what arrives ----------------------------------------------------------------------------

    def _on_change(self, change: Change) -> None:
        if change.state is State.CONNECTED:
            self.syncer.wake()
            self.outbox.wake()
            self.events.wake()
            self.facts.wake()
            log.info("connected")
        why = connection_problem(change.why)
        if why and why != self.disconnected:
            log.warning("%s: %s", HAPPENED[change.state], why)
        self.disconnected = why

    async def _on_job(self, message: Arrived) -> None:
        if self.inbox.take(message.data, live=True):
            self.jobs.wake()

    def _collect_records(self, jid: str) -> None:
        with suppress(SpoolFailed):  # a full disk: records stay in their files, and the return says so
            if self.jobs.keeper.collect_records(jid):
                self.outbox.wake()

    def _on_return(self, jid: str) -> None:
        self.outbox.wake()
        entry = self.spool.entry(jid)
        if entry is not None:
            self.facts.use_tree(entry.job.tree)
        if entry is not None and entry.job.function == "saltutil.refresh_pillar":
            self.scheduler.look_again()
        if entry is not None and entry.job.changing:
            self.facts.look_again()
            self.scheduler.look_again()
            self._restart_if_replaced()

    def _restart_if_replaced(self) -> None:
        """Replace this process by the build that a job has installed. It takes over the running jobs."""
        if were_replaced() or are_elsewhere(self._prefix):
            self.outdated = True
            self.stop.set()

    # -- what is sent about the agent itself --------------------------------------------------------

    def alive(self) -> Alive:
        """The answer to a poke."""
        return Alive(
            instance=self.instance,
            starts=self.member.starts,
            running=self.jobs.running[:100],
            version=saltern.__version__,
        )

    async def announce_away(self, away: Away) -> None:
        """Report, before it happens, that the system goes down on purpose."""
        with suppress(BusError):
            await self.bus.store(SUBJECTS["away"].of(id=self.member.id), encode(away))

    # -- sync --------------------------------------------------------------------------------------

    def sync_request(self, nonce: str) -> SyncRequest:
        return SyncRequest(
            nonce=nonce,
            instance=self.instance,
            starts=self.member.starts,
            boot=self.options.boot,
            version=saltern.__version__,
            cursor=int(self.spool.get("cursor") or 0),
            running=[entry.jid for entry in self.spool.open_jobs()][:1000],
            unconfirmed=self.spool.unconfirmed_jids(),
            facts=self.spool.get("facts"),
            now=self.clock.now(),
            events=self.spool.events.sent_ids(),
        )

    async def on_sync(self, answer: SyncAnswer) -> None:
        """Process the controller's answer: confirmations, jobs, cancellations."""
        self._withdraw(answer.withdrawn)
        self.inbox.refused = answer.refused
        if answer.refused:
            return
        for one in answer.confirmed:
            self.spool.confirm(one.jid, returned=one.returned, records=one.records)
        self.spool.events.confirm(answer.events)
        taken = [self.inbox.take(text.encode(), live=False) for text in answer.jobs]
        for jid in answer.cancelled:
            await self.jobs.cancel(jid, hard=False)
        if answer.trees and self.facts.use_tree(tree_digest(answer.trees)):
            self.scheduler.look_again()
        if answer.want_facts:
            self.facts.send_again()
        if home := self.options.home:
            await self._adopt(home, answer)
        self.spool.put("cursor", str(answer.cursor))
        self.spool.put("latest", str(self.clock.latest))
        if any(taken):
            self.jobs.wake()
        self.outbox.wake()

    def _withdraw(self, some: Sequence[Signed]) -> None:
        """Stop obeying controllers whose keys the root key has withdrawn."""
        if not (keys := newly_withdrawn(some, self.inbox.trust)):
            return
        trust = self.inbox.trust
        self.inbox.trust = replace(trust, withdrawn=trust.withdrawn | keys)
        log.warning("messages signed with these keys of controllers are refused: %s", ", ".join(sorted(keys)))
        if home := self.options.home:
            try:
                home.withdraw(keys)
            except OSError as problem:  # the next start learns of it with its first sync
                log.warning("the withdrawn keys cannot be stored on disk: %s", problem)

    async def _adopt(self, home: Home, answer: SyncAnswer) -> None:
        try:
            await home.adopt(self.bus, answer.credential, answer.servers)
        except (BadJwt, BusError, OSError) as problem:
            log.warning("what the controller sent with its answer is not used: %s", problem)


def _render(ask: Asker, member: Membership, options: AgentOptions) -> AgentRender | None:
    if options.sealing is None:
        return None
    return AgentRender(ask, options.sealing, fleet=member.fleet, system=member.id)


def _pillar(ask: Asker, member: Membership, options: AgentOptions) -> AgentPillar | None:
    if options.sealing is None:
        return None
    return AgentPillar(
        ask, options.sealing, fleet=member.fleet, system=member.id, directory=options.pillar_path
    )
