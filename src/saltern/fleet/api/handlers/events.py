"""Events, as a list."""

from __future__ import annotations

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.shapes import EventAnswer, EventsAnswer, EventsQuery
from saltern.fleet.store.events import newest_event, read_events


async def list_events(call: Call[EventsQuery, None]) -> EventsAnswer:
    query = call.query
    page = await call.read(read_events, query.after or 0, query.tag, query.limit)
    newest = await call.read(newest_event)
    items = [convert(one, EventAnswer, from_attributes=True) for one in page.events]
    more = str(page.cursor) if page.cursor < newest else None
    return EventsAnswer(items=items, next=more, cursor=page.cursor)
