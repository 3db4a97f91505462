"""The agent: one identity on one bus. It listens, asks, has jobs worked on, and sends what came of them.

Many may live in one process: everything that it uses is handed to it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import saltern
from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.agent.facts import FactsSender
from saltern.fleet.agent.housekeeping import Housekeeping
from saltern.fleet.agent.inbox import Inbox
from saltern.fleet.agent.intake import denied_by
from saltern.fleet.agent.jobs import Jobs, WorkerSettings
from saltern.fleet.agent.outbox import Outbox
from saltern.fleet.agent.renewal import Home, Renewal
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.scheduler import Scheduler
from saltern.fleet.agent.spool import Spool, SpoolFailed
from saltern.fleet.agent.supply import JobSupply
from saltern.fleet.agent.sync import Syncer
from saltern.fleet.agent.watch import Watch
from saltern.fleet.bus.ports import Bus, BusError, Change, State
from saltern.fleet.bus.ports import Message as Arrived
from saltern.fleet.bus.tasks import end
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.identity.jwt import BadJwt
from saltern.fleet.identity.membership import Membership
from saltern.fleet.pillar.agent import AgentPillar
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.messages import (
    Alive,
    Away,
    Control,
    Job,
    Return,
    SyncAnswer,
    SyncRequest,
)
from saltern.fleet.protocol.subjects import SUBJECTS

log = logging.getLogger(__name__)

AGAIN = 5.0  # seconds after which a part of the agent that failed is started again


async def _keep_going(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a part of the agent for ever: one that ended by a full disk, or a fault of ours, would leave the
    agent deaf without a sign of it.
    """
    while True:
        try:
            return await loop()
        except (SpoolFailed, OSError) as problem:
            log.error("%s; tried again in %.0f s", problem, AGAIN)
        except Exception:
            log.exception("a part of the agent failed; it is started again in %.0f s", AGAIN)
        await asyncio.sleep(AGAIN)


class Agent:
    """Made with all that it needs; ``start`` connects the parts, ``close`` ends them."""

    def __init__(
        self,
        member: Membership,
        bus: Bus,
        spool: Spool,
        runner: Runner,
        *,
        settings: WorkerSettings | None = None,
        clock: FleetClock | None = None,
        files: AgentFiles | None = None,
        sealing: SealingKey | None = None,
        pillar_path: str = "",
        facts_path: str = "",
        boot: str = "",
        sites: tuple[str, ...] = (),
        denied: Callable[[], tuple[str, ...]] = lambda: (),
        home: Home | None = None,
        jobs_folder: str = "",
    ) -> None:
        self.member = member
        self.instance = secrets.token_hex(8)
        self.stop = asyncio.Event()  # set by who wants it to end
        self.bus = bus
        self.spool = spool
        self.clock = clock or FleetClock(latest=float(spool.get("latest") or 0))
        self.outbox = Outbox(bus, spool, member.id, self.clock.now)
        self.settings = settings or WorkerSettings()
        self.jobs = Jobs(
            spool,
            runner,
            now=self.clock.now,
            begun=lambda _jid: self.watch.wake(),
            returned=self._on_return,
            settings=self.settings,
            supply=JobSupply(files, self.settings.socket) if files else None,
        )
        self.files = files
        self.pillar: AgentPillar | None = None
        self.inbox = Inbox(
            spool,
            self.clock,
            me=member.id,
            trust=member.trust,
            matches=self.is_meant,
            refuse=self._refuse,
            denied=denied,
        )
        self.syncer = Syncer(bus, self, self.clock, id=member.id, trust=lambda: self.inbox.trust)
        self.ask = Asker(bus, self.clock, id=member.id, trust=lambda: self.inbox.trust)
        if sealing is not None:
            self.pillar = AgentPillar(
                self.ask, sealing, fleet=member.fleet, system=member.id, directory=pillar_path
            )
        self.facts = FactsSender(self.ask, runner, spool, self.settings, facts_path)
        self.watch = Watch(
            bus,
            runner,
            member.id,
            running=lambda: self.jobs.running,
            away=self.tell_away,
            now=self.clock.now,
        )
        self.scheduler = Scheduler(
            spool,
            runner,
            self.settings,
            denied=lambda job: denied_by(job, denied()),
            added=lambda: self.jobs.wake(),
        )
        self.home = home
        self._loops = [
            self.syncer.run,
            self.outbox.run,
            self.jobs.run,
            self.facts.run,
            self.watch.run,
            self.scheduler.run,
            Housekeeping(spool, runner, jobs_folder, self.clock.now).run,
            *([Renewal(home, bus, self.clock.now).run] if home else []),
        ]
        self._boot = boot
        self._sites = sites
        self._tasks: list[asyncio.Task[None]] = []
        self._short: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Listen, sync, send and work, until ``close``."""
        self.bus.watch(self._on_change)
        id = self.member.id
        jobs = [SUBJECTS["job"].of(id=id), SUBJECTS["job-all"].of()]
        for subject in [*jobs, *(SUBJECTS["job-site"].of(site=site) for site in self._sites)]:
            await self.bus.subscribe(subject, self._on_job)
        await self.bus.subscribe(SUBJECTS["control"].of(id=id), self._on_control)
        if self.files is not None:
            self.files.release_others([entry.jid for entry in self.spool.open_jobs()])
        self.jobs.recover()
        for loop in self._loops:
            self._tasks.append(asyncio.create_task(_keep_going(loop)))

    async def close(self) -> None:
        """Stop. Workers go on, and the next agent finds them."""
        for task in [*self._tasks, *self._short]:
            await end(task)
        await self.jobs.close()

    def spawn(self, work: Any) -> None:
        """Have something short done beside the rest."""
        task = asyncio.create_task(work)
        self._short.add(task)
        task.add_done_callback(self._short.discard)

    def is_meant(self, expression: str) -> bool:
        """True if a target expression means this machine, by its facts as they were last seen."""
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
            self.facts.wake()
        if change.why:
            log.warning("%s: %s", change.state.value, change.why)

    async def _on_job(self, message: Arrived) -> None:
        if self.inbox.take(message.data, live=True):
            self.jobs.wake()

    async def _on_control(self, message: Arrived) -> None:
        """A poke has no data, and is answered; anything else must be signed."""
        if not message.data:
            return await self._answer_poke(message.reply)
        found = self.inbox.open(message.data)
        if found is not None:
            with suppress(Refused):
                await self._obey(found.of(Control))
        return None

    async def _answer_poke(self, reply: str) -> None:
        if not reply.startswith(f"up.{self.member.name}.ans."):
            return
        alive = Alive(
            instance=self.instance,
            starts=self.member.starts,
            running=self.jobs.running[:100],
            version=saltern.__version__,
        )
        with suppress(BusError):
            await self.bus.publish(reply, encode(alive))

    async def _obey(self, order: Control) -> None:
        log.info("order: %s %s", order.action, order.jid or "")
        if order.action in ("cancel", "kill") and order.jid:
            await self.jobs.cancel(order.jid, hard=order.action == "kill")
        elif order.action == "sync":
            self.syncer.wake()
        elif order.action == "drain":
            self.inbox.draining = order.why or "this agent takes no jobs now"
        elif order.action == "reload":
            self.inbox.draining = ""
            self.facts.look_again()
            self.scheduler.look_again()
        elif order.action == "leave":
            log.warning("the controller asks this machine to leave: %s", order.why)
            self.stop.set()

    def _on_return(self, jid: str) -> None:
        self.outbox.wake()
        entry = self.spool.entry(jid)
        if entry is not None and entry.job.changing:
            self.facts.look_again()
            self.scheduler.look_again()

    def _refuse(self, job: Job, why: str) -> None:
        """Return that a job is not run; it is not in the spool, so it is sent directly."""
        log.warning("job %s is refused: %s", job.jid, why)
        self.spawn(self._send_refusal(job, why))

    async def _send_refusal(self, job: Job, why: str) -> None:
        now = self.clock.now()
        message = Return(jid=job.jid, status="refused", why=why, started=now, ended=now)
        subject = SUBJECTS["return"].of(id=self.member.id, jid=job.jid)
        with suppress(BusError):
            await self.bus.store(subject, encode(message), id=f"{self.member.name}.{job.jid}.0")

    # -- sync --------------------------------------------------------------------------------------

    def sync_request(self, nonce: str) -> SyncRequest:
        return SyncRequest(
            nonce=nonce,
            instance=self.instance,
            starts=self.member.starts,
            boot=self._boot,
            version=saltern.__version__,
            cursor=int(self.spool.get("cursor") or 0),
            running=[entry.jid for entry in self.spool.open_jobs()][:1000],
            unconfirmed=self.spool.unconfirmed(),
            facts=self.spool.get("facts"),
            now=self.clock.now(),
        )

    async def on_sync(self, answer: SyncAnswer) -> None:
        """Take what the controller says: confirmations, jobs, cancellations."""
        self.inbox.refused = answer.refused
        if answer.refused:
            return
        for one in answer.confirmed:
            self.spool.confirm(one.jid, returned=one.returned, records=one.records)
        taken = [self.inbox.take(text.encode(), live=False) for text in answer.jobs]
        for jid in answer.cancelled:
            await self.jobs.cancel(jid, hard=False)
        if answer.want_facts:
            self.facts.send_again()
        if self.home:
            await self._adopt(self.home, answer)
        self.spool.put("cursor", str(answer.cursor))
        self.spool.put("latest", str(self.clock.latest))
        if any(taken):
            self.jobs.wake()
        self.outbox.wake()

    async def _adopt(self, home: Home, answer: SyncAnswer) -> None:
        try:
            await home.adopt(self.bus, answer.credential, answer.servers)
        except (BadJwt, BusError, OSError) as problem:
            log.warning("what the controller sent with its answer is not used: %s", problem)

    async def tell_away(self, away: Away) -> None:
        """Say that the system goes down on purpose, before it does."""
        with suppress(BusError):
            await self.bus.store(SUBJECTS["away"].of(id=self.member.id), encode(away))
