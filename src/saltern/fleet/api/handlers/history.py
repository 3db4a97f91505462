"""Past events: the newest first, and how many there were over time."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from saltern.fleet.api.call import Call
from saltern.fleet.api.console_shapes import CountsAnswer, CountsQuery, HistoryAnswer, HistoryQuery
from saltern.fleet.api.job_shapes import EventAnswer
from saltern.fleet.api.pages import decode_cursor, make_page
from saltern.fleet.store import history
from saltern.fleet.store.events import newest_event
from saltern.fleet.store.history import Wanted

DAY = 86_400.0


async def list_history(call: Call[HistoryQuery, None]) -> HistoryAnswer:
    """Past events, the newest first."""
    query = call.query
    before = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else None
    wanted = Wanted(tag=query.tag, system=query.system, since=query.since, until=query.until)
    newest = await call.read(newest_event)
    rows = await call.read(history.events_before, wanted, before, query.limit + 1)
    found = [_event(row) for row in rows]
    page = make_page(found, query.limit, lambda one: (one.number,))
    return HistoryAnswer(items=page.items, next=page.next, newest=newest)


def _event(row: history.PastEvent) -> EventAnswer:
    """An event; its data is already JSON, and is passed on unchanged."""
    data: Any = Raw(row.data)
    return EventAnswer(number=row.number, at=row.at, tag=row.tag, system=row.system, data=data)


async def count_events(call: Call[CountsQuery, None]) -> CountsAnswer:
    """The number of events over time, by subject."""
    query = call.query
    until = call.desk.now() if query.until is None else query.until
    since = min(until, until - DAY if query.since is None else query.since)
    wanted = Wanted(tag=query.tag, system=query.system)
    counts = await call.read(history.counts_over_time, wanted, since, until, query.parts)
    total = sum(map(sum, counts.values()))
    return CountsAnswer(since=since, until=until, parts=query.parts, counts=counts, total=total)
