"""Reacts to events on one controller, from its cursor on, event by event.

The rule: the reactions to an event whose tag matches a row of the map are rendered and carried out, unless
too many reactions have led to it; the result and the cursor are written in one transaction. If a controller
ends in between, the next one reads the same events again, and each reaction's token makes a second attempt do
nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import job_of
from saltern.fleet.controller.reactor.act import Acted, Actor
from saltern.fleet.controller.reactor.options import REACTOR, ReactorOptions
from saltern.fleet.controller.reactor.plan import Planned, Planner
from saltern.fleet.controller.reactor.returns import with_return
from saltern.fleet.controller.reactor.rules import Rules
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.reactor.forms import Reaction, Wrong
from saltern.fleet.reactor.ports import Foreseen
from saltern.fleet.reactor.rules import Rule, sources_for
from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, Page, StoredEvent, newest_event, read_events, store_events
from saltern.fleet.store.reactions import (
    FAILED,
    STOPPED,
    Ancestry,
    NewReaction,
    add_reactions,
    ancestry,
    count_of_root,
    end_running,
    is_done,
)
from saltern.fleet.store.settings import read_setting, write_setting

log = logging.getLogger(__name__)

CURSOR = "reactor cursor"
UNSET = -1
OWN_MACHINE = ("runner", "wheel", "caller")
PAGE = 500  # events that are read in one round


class Reactor:
    """The work of one round, for a ``Singleton``."""

    def __init__(
        self,
        options: ReactorOptions,
        rules: Rules,
        planner: Planner,
        actor: Actor,
        hub: Hub,
        *,
        now: Callable[[], float],
    ) -> None:
        self.options = options
        self.rules = rules
        self.planner = planner
        self.actor = actor
        self._hub = hub
        self._now = now
        self._allowed = options.rate  # reactions that may be carried out now
        self._filled = now()
        self._forgotten = False

    async def __call__(self, hold: Hold) -> None:
        """React to stored events, page by page, until none are left."""
        if hold.fresh:
            await hold.write(end_running, "the controller ended meanwhile; it is unknown whether it was done")
        rules = await self.rules.current()
        if not rules:
            if hold.fresh or not self._forgotten:
                await hold.write(_forget)
            self._forgotten = True
            return
        self._forgotten = False
        while await self._react(hold, await _read_page(hold)):
            pass

    async def rows(self) -> Sequence[Rule]:
        """The current map."""
        return await self.rules.current()

    async def add(self, who: str, pattern: str, sources: object) -> Rule:
        return await self.rules.add(who, pattern, sources)

    async def remove(self, who: str, pattern: str) -> None:
        await self.rules.remove(who, pattern)

    async def foresee(self, tag: str, data: Mapping[str, Any]) -> Foreseen:
        """The reactions that an event would cause; nothing is done."""
        sources = sources_for(await self.rules.current(), tag)
        event = StoredEvent(number=0, at=self._now(), tag=tag, system="", data=dict(data))
        planned = await self.planner.plan(event, sources) if sources else Planned(event=event)
        looked = [await self.actor.look(one) for one in planned.reactions]
        return Foreseen(
            sources=list(sources),
            reactions=list(planned.reactions),
            systems=[list(systems) for systems, _ in looked],
            refusals=[why for _, why in looked],
            wrong=list(planned.wrong),
        )

    async def close(self) -> None:
        await self.actor.runners.close()
        await self.planner.close()

    async def _react(self, hold: Hold, page: Page) -> bool:
        """React to one page; True if another one may follow."""
        if not page.events:
            return False
        rules = await self.rules.current()
        for event in page.events:
            if sources := sources_for(rules, event.tag):
                await self._react_to(hold, event, sources)
        await hold.write(write_setting, CURSOR, page.cursor)
        return True

    async def _react_to(self, hold: Hold, event: StoredEvent, sources: Sequence[str]) -> None:
        """Carry out the reactions to one event, and store the results with the cursor."""
        now = self._now()
        if event.at < now - self.options.patience:
            why = f"the event is older than {self.options.patience:.0f} seconds"
            await self._write(hold, _left_out(event, sources, Ancestry(), STOPPED, why, now))
            return
        before = await hold.write(_ancestry, event)
        if why := self._limit(before, await hold.write(count_of_root, before.root or event.number)):
            await self._write(hold, _left_out(event, sources, before, STOPPED, why, now))
            return
        whole = await hold.write(with_return, event)
        planned = await self.planner.plan(whole, sources)
        rows = [_row(planned, one, before, FAILED, self._now(), why=one.why) for one in planned.wrong]
        for one in planned.reactions:
            if one.kind in OWN_MACHINE and await hold.write(is_done, planned.token(one)):
                continue
            await self._pace()
            acted = await self.actor.act(planned, one)
            rows.append(self._make_row(planned, one, before, acted))
            if one.kind in OWN_MACHINE:  # no token of a job makes a second attempt do nothing
                await hold.write(_write_rows, rows[-1:], event.number - 1)
        await self._write(hold, rows, cursor=event.number)

    def _make_row(self, planned: Planned, one: Reaction, before: Ancestry, acted: Acted) -> NewReaction:
        return _row(planned, one, before, acted.status, self._now(), why=acted.why, jid=acted.jid)

    def _limit(self, before: Ancestry, family: int) -> str:
        """Why an event caused by reactions must cause no more; empty if it may."""
        if before.depth >= self.options.depth:
            return f"{before.depth} reactions led to this event, each to the next: it triggers itself"
        if before.depth and family >= self.options.family:
            return f"event {before.root} has led to {family} reactions: they trigger each other"
        return ""

    async def _pace(self) -> None:
        """Wait until one more reaction is allowed: ``rate`` a second."""
        while True:
            now = self._now()
            gained = max(0.0, now - self._filled) * self.options.rate
            self._allowed, self._filled = min(self.options.rate, self._allowed + gained), now
            if self._allowed >= 1:
                self._allowed -= 1
                return
            await asyncio.sleep((1 - self._allowed) / self.options.rate)

    async def _write(self, hold: Hold, rows: Sequence[NewReaction], cursor: int = 0) -> None:
        await hold.write(_write_rows, rows, cursor or (rows[0].event if rows else 0))
        for row in rows:
            if row.status in (FAILED, STOPPED):
                log.warning("reaction to %s: %s:%d %s: %s", row.tag, row.source, row.line, row.name, row.why)
        self._hub.wake()


def _forget(connection: Connection) -> None:
    """Delete the cursor of a reactor without a map: a map that is added later begins with new events."""
    if read_setting(connection, CURSOR, int) not in (None, UNSET):
        write_setting(connection, CURSOR, UNSET)


async def _read_page(hold: Hold) -> Page:
    page: Page | None = await hold.read(_next_page)
    return await hold.write(_first_page) if page is None else page


def _next_page(connection: Connection) -> Page | None:
    """The events after the cursor; None if there is no cursor: at the first start, or after a restored
    backup. It only reads, so that no job waits for it: results are written with the lease.
    """
    cursor = read_setting(connection, CURSOR, int)
    if cursor is None or cursor == UNSET or cursor > newest_event(connection):
        return None
    return read_events(connection, cursor, limit=PAGE)


def _first_page(connection: Connection) -> Page:
    newest = newest_event(connection)
    write_setting(connection, CURSOR, newest)
    return Page([], newest)


def _ancestry(connection: Connection, event: StoredEvent) -> Ancestry:
    return ancestry(connection, job_of(event) or event.cause)


def _row(
    planned: Planned,
    one: Reaction | Wrong,
    before: Ancestry,
    status: str,
    now: float,
    *,
    why: str = "",
    jid: str = "",
) -> NewReaction:
    event = planned.event
    made = NewReaction(
        token=planned.token(one),
        event=event.number,
        root=before.root or event.number,
        depth=before.depth + 1,
        at=now,
        tag=event.tag,
        source=one.source,
        line=one.line,
        name=one.name[:255],
        status=status,
        why=why,
        jid=jid,
    )
    if isinstance(one, Wrong):
        return made
    return replace(made, kind=one.kind, function=one.function, target=one.target)


def _left_out(
    event: StoredEvent, sources: Sequence[str], before: Ancestry, status: str, why: str, now: float
) -> list[NewReaction]:
    planned = Planned(event=event)
    return [
        _row(planned, Wrong(line=0, why=why, source=source), before, status, now, why=why)
        for source in sources
    ]


def _write_rows(connection: Connection, rows: Sequence[NewReaction], cursor: int) -> None:
    """Write the reactions, an event and an audit entry for each that failed, and the new cursor."""
    new = add_reactions(connection, rows)
    bad = [row for row in new if row.status in (FAILED, STOPPED)]
    store_events(connection, [_report(row) for row in bad])
    for row in new:
        if row.status == STOPPED or row.kind not in ("", "local"):  # jobs have their own row
            detail = {"event": row.event, "tag": row.tag, "source": row.source, "status": row.status}
            more = {"function": row.function, "why": row.why} if row.function else {"why": row.why}
            audit.append(connection, REACTOR.name, f"reaction.{row.status}", {**detail, **more}, row.at)
    write_setting(connection, CURSOR, cursor)


def _report(row: NewReaction) -> NewEvent:
    names = ("event", "tag", "source", "line", "name", "function", "target", "why")
    data = {name: getattr(row, name) for name in names}
    return NewEvent(tag=f"saltern/reactor/{row.status}", data=data, at=row.at)
