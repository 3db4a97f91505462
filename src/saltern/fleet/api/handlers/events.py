"""Events: as a list, and as they happen."""

from __future__ import annotations

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.follow import event_notices, events_start, job_notices, job_start
from saltern.fleet.api.job_shapes import (
    EventAnswer,
    EventsAnswer,
    EventsQuery,
    FollowQuery,
    NewestEvent,
)
from saltern.fleet.api.problems import ApiError, unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.stream import MEDIA, EventStream
from saltern.fleet.store.events import newest_event, read_events
from saltern.language.diagnostics import Diagnostic


async def events(call: Call[EventsQuery, None]) -> EventsAnswer | EventStream:
    """Events, the oldest first; with `Accept: text/event-stream`, all notices as they come."""
    query = call.query
    if MEDIA in call.headers.get("accept", ""):
        start = await call.read(events_start, cursor_of(call.headers.get("last-event-id"), query.after))
        notices = event_notices(call.desk.fleet, start, query.tag)
        return EventStream(notices, call.desk.closing, call.is_allowed)
    page = await call.read(read_events, query.after or 0, query.tag, query.limit)
    newest = await call.read(newest_event)
    items = [convert(one, EventAnswer, from_attributes=True) for one in page.events]
    more = str(page.cursor) if page.cursor < newest else None
    return EventsAnswer(items=items, next=more, cursor=page.cursor)


async def newest(call: Call[NoQuery, None]) -> NewestEvent:
    """The number of the newest event."""
    return NewestEvent(number=await call.read(newest_event))


async def job_events(call: Call[FollowQuery, None]) -> EventStream:
    """Follow a job: its current state, then each notice as it comes, until it has ended."""
    jid = call.path["jid"]
    start = await call.read(job_start, jid, cursor_of(call.headers.get("last-event-id"), call.query.after))
    if start is None:
        raise unknown("job", jid)
    return EventStream(job_notices(call.desk.fleet, jid, start), call.desk.closing, call.is_allowed)


def cursor_of(header: str | None, after: int | None) -> int | None:
    """The number of the last notice that a reader has: the header takes precedence over the parameter."""
    if not header:
        return after
    if header.isascii() and header.isdigit() and len(header) < 17:
        return int(header)
    what = f"the header Last-Event-ID is {header[:40]!r}"
    fix = "send the id of the last event that came, or leave it out"
    raise ApiError(400, Diagnostic(code="api-bad-cursor", what=what, fix=fix))
