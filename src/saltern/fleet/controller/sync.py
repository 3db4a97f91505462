"""Sync: everything that an agent missed, in one answer.

The agent reports what it has; the controller knows what it should have. Differences are corrected here: jobs
that never arrived are sent, stored returns are confirmed, and a job that the agent no longer knows is not
waited for.
"""

from __future__ import annotations

import calendar
import logging
import time
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from saltern.fleet.bus.poke import Poker
from saltern.fleet.controller.alarms import Alarms
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.restores import doubt_legs
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import agent_started, end_events, presence_change, status_event
from saltern.fleet.controller.members import withdrawals
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.submission import written_size
from saltern.fleet.identity.clones import Life, Verdict, find_twin, refusal
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.protocol.messages import (
    Audience,
    Confirmed,
    Facts,
    Received,
    Signed,
    SyncAnswer,
    SyncRequest,
)
from saltern.fleet.store.database import Connection
from saltern.fleet.store.deliveries import mark_taken
from saltern.fleet.store.events import NewEvent, store_events, stored_uids
from saltern.fleet.store.facts import facts_of
from saltern.fleet.store.job_queries import Work, work_of
from saltern.fleet.store.jobs import Change, set_status
from saltern.fleet.store.returns import Standing, begun_jobs, standings
from saltern.fleet.store.statuses import REPORTED
from saltern.fleet.store.systems import NOT_ACCEPTED, System, is_accepted, note_sync, store_facts, system

log = logging.getLogger(__name__)

LOOK = 0.3  # seconds in which a second agent with the same identity would answer
ROOM = 700 * 1024  # bytes of jobs in one answer, as they are written into it
NEXT = 600.0
OVERHEAD = 2048  # of one envelope
STALE = 8 * 86_400.0  # age after which a return of an unknown job is dropped


class SyncOptions(Struct, frozen=True, kw_only=True):
    """What every answer contains."""

    servers: tuple[str, ...] = ()
    next_sync: float = NEXT


class Findings(Struct, frozen=True, kw_only=True):
    """The data from the database for one answer."""

    work: Sequence[Work] = ()
    more: bool = False
    cancelled: Sequence[str] = ()
    confirmed: Sequence[Confirmed] = ()
    want_facts: bool = False
    events: list[str] = []
    withdrawn: Sequence[Signed] = ()


class SyncDesk:
    """Answers ``sync`` and ``facts``."""

    def __init__(
        self,
        calls: Calls,
        issuer: Issuer,
        poker: Poker,
        board: PresenceBoard,
        hub: Hub,
        alarms: Alarms,
        *,
        now: Callable[[], float],
        options: SyncOptions,
        trees: Callable[[], dict[str, str]] = dict,
    ) -> None:
        self.synced = 0
        self._calls = calls
        self._issuer = issuer
        self._poker = poker
        self._board = board
        self._hub = hub
        self._alarms = alarms
        self._now = now
        self.options = options
        self._trees = trees

    async def on_sync(self, id_: str, request: SyncRequest) -> SyncAnswer:
        now = self._now()
        known = await self._calls.read(system, id_)
        if not is_accepted(known):
            return SyncAnswer(refused=NOT_ACCEPTED, now=now)
        verdict = await self._judge(known, request)
        if why := refusal(known.id, verdict):
            self._alarms.refuse(id_, "twin", why)
            return SyncAnswer(refused=why, now=now)
        if verdict is Verdict.RESTORED:
            log.warning("%s: %s", id_, verdict.value)
            await self._calls.write(doubt_legs, id_, now)
        found = await self._calls.write(settle, id_, request, now)
        self.synced += 1
        self._board.heard(id_)
        self._hub.wake()
        return SyncAnswer(
            jobs=self._envelopes(id_, found.work, now),
            more=found.more,
            cancelled=list(found.cancelled),
            confirmed=list(found.confirmed),
            trees=self._trees(),
            servers=list(self.options.servers),
            now=now,
            next_sync=self.options.next_sync,
            want_facts=found.want_facts,
            events=found.events,
            withdrawn=list(found.withdrawn),
        )

    async def _judge(self, known: System, request: SyncRequest) -> Verdict:
        life = Life(known.instance, known.starts, known.boot) if known.instance else None
        return await find_twin(self._poker, known.id, life, request, wait=LOOK)

    def _envelopes(self, id_: str, work: Iterable[Work], now: float) -> list[str]:
        """The jobs, signed again for this system alone: a message to many may have been addressed
        by facts.
        """
        audience = Audience(ids=[id_])
        return [
            self._issuer.issue(one.job, audience, now=now, life=max(1.0, one.expires - now)).decode()
            for one in work
        ]

    async def on_facts(self, id_: str, facts: Facts) -> Received:
        now = self._now()
        known = await self._calls.read(system, id_)
        if not is_accepted(known):
            return Received(problem=NOT_ACCEPTED)
        if await self._calls.write(take_facts, id_, facts, now):
            self._hub.wake()
        self._board.heard(id_)
        return Received(digest=facts.digest)


def take_facts(connection: Connection, id_: str, facts: Facts, now: float) -> bool:
    """Store the facts of a system; True if these are its first, which complete its start.

    A program that waits for the start of a new machine usually needs its address next.
    """
    known = bool(facts_of(connection, [id_]))
    store_facts(connection, id_, facts, now)
    before = system(connection, id_)
    if known or before is None or not before.instance:
        return False
    store_events(connection, agent_started(id_, before.version, before.boot, now))
    return True


def settle(connection: Connection, id_: str, request: SyncRequest, now: float) -> Findings:
    """Compare what an agent has with what it should have, and store the consequences."""
    before = system(connection, id_)
    facts = facts_of(connection, [id_]).get(id_, ("", b""))[0]
    events: list[NewEvent] = []
    if facts and before is not None and before.instance != request.instance:
        events += agent_started(id_, request.version, request.boot, now)
    if before is not None and not before.online:
        events.append(presence_change([id_], [], now))
    note_sync(connection, id_, request, now, checked=True)
    held = {*request.running, *request.unconfirmed}
    known = standings(connection, id_, [*held])
    events += _end_lost(connection, id_, held, now)
    restarted = before is not None and before.instance != request.instance
    waits = ("queued", "sent", "down") if restarted else ("queued", "sent")
    for jid in request.running:  # it has the job, whether it has begun or waits for another one
        if jid in known and known[jid].status in waits:
            set_status(connection, Change(jid, id_, "running"), now, reported=True)
    offered = [one for one in work_of(connection, id_, now) if one.job.jid not in held]
    work = take_fitting(offered, ROOM)
    mark_taken(connection, id_, [one.job.jid for one in work], now)
    store_events(connection, events)
    return Findings(
        work=work,
        more=len(work) < len(offered),
        cancelled=[jid for jid in request.running if jid in known and known[jid].cancelled],
        confirmed=[confirm(jid, known.get(jid), now) for jid in request.unconfirmed],
        want_facts=bool(request.facts) and facts != request.facts,
        events=_stored_events(connection, id_, request.events),
        withdrawn=withdrawals(connection),
    )


def _stored_events(connection: Connection, id_: str, uids: Sequence[str]) -> list[str]:
    """The events that a system has sent and need not send again."""
    head = f"{id_}/"
    return [one.removeprefix(head) for one in stored_uids(connection, [head + uid for uid in uids[:1000]])]


def _end_lost(connection: Connection, id_: str, held: set[str], now: float) -> list[NewEvent]:
    """End jobs that the agent does not know: a cancelled one never began; the result of one that began is
    unknown. One that was only sent is sent again.
    """
    events = []
    for jid, one in begun_jobs(connection, id_).items():
        if jid in held or (status := status_if_lost(one)) is None:
            continue
        why = "cancelled before it began" if status == "cancelled" else "the agent no longer knows the job"
        change = Change(jid, id_, status)
        if set_status(connection, change, now, reported=False, why=why):
            events.append(status_event(change, now, why=why))
            events += end_events(connection, [jid], now)
    return events


def status_if_lost(one: Standing) -> str | None:
    """The status of a job that its agent does not have; None: it is sent again."""
    if one.status == "sent":
        return "cancelled" if one.cancelled else None
    return "indeterminate"


def confirm(jid: str, known: Standing | None, now: float) -> Confirmed:
    """The confirmations for a job. An unknown job may come back with a backup; an old one will not."""
    if known is None:
        return Confirmed(jid=jid, returned=is_stale(jid, now))
    return Confirmed(jid=jid, returned=known.status in REPORTED, records=known.records)


def is_stale(jid: str, now: float) -> bool:
    """True if the time in the id of a job is long ago. An id without a time counts as stale: it is not from
    saltern.
    """
    try:
        made = calendar.timegm(time.strptime(jid[:15], "%Y%m%dT%H%M%S"))
    except ValueError:
        return True
    return made < now - STALE


def take_fitting(work: Sequence[Work], room: int) -> list[Work]:
    """As many jobs as fit, and at least one."""
    taken: list[Work] = []
    for one in work:
        room -= written_size(one.job) + OVERHEAD
        if taken and room < 0:
            break
        taken.append(one)
    return taken
