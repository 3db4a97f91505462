"""Events, numbered in the order in which the controller learned of them: the number is a reader's cursor."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Integer, bindparam, func, select

from saltern.fleet.store.bulk import fetch, fetch_value, insert_rows
from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import EVENTS

AT_ONCE = 500  # values in one question
SCANNED = 5000  # rows that one call looks at for a pattern that few match


class StoredEvent(Struct, frozen=True, kw_only=True):
    """One event."""

    number: int
    at: float
    tag: str
    system: str
    data: dict[str, Any]
    cause: str = ""


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event to be stored; ``system`` is empty for one of the controller's own. One with a ``uid`` is
    stored once. ``cause``: the job, or the reaction, that it comes from.
    """

    tag: str
    data: dict[str, Any]
    at: float
    system: str = ""
    uid: str | None = None
    cause: str = ""


class Page(Struct, frozen=True):
    """Some events, and the cursor to ask from next time."""

    events: list[StoredEvent]
    cursor: int


def store_events(connection: Connection, new: Sequence[NewEvent]) -> None:
    """Add events. One transaction at a time, so that a reader never passes a number that comes later."""
    if not new:
        return
    serialize(connection, "events")
    known = stored_uids(connection, [one.uid for one in new if one.uid])
    rows = []
    for one in new:
        if one.uid is None or one.uid not in known:
            data = msgspec.json.encode(one.data)
            row = {"at": one.at, "tag": one.tag, "system": one.system, "data": data}
            rows.append({**row, "uid": one.uid, "cause": one.cause})
            known.add(one.uid or "")
    insert_rows(connection, EVENTS, rows)


def stored_uids(connection: Connection, uids: Sequence[str]) -> set[str]:
    """The uids that are already stored."""
    found: set[str] = set()
    for first in range(0, len(uids), AT_ONCE):
        some = uids[first : first + AT_ONCE]
        found |= {str(uid) for uid in connection.scalars(select(EVENTS.c.uid).where(EVENTS.c.uid.in_(some)))}
    return found


def read_events(connection: Connection, after: int, pattern: str = "*", limit: int = 500) -> Page:
    """Events after a cursor whose tag matches a glob, oldest first."""
    everything = pattern == "*"
    found: list[StoredEvent] = []
    cursor = after
    for row in fetch(connection, _AFTER, after=after, most=limit if everything else SCANNED):
        event = _event(row)
        cursor = event.number
        if everything or fnmatch.fnmatchcase(event.tag, pattern):
            found.append(event)
            if len(found) >= limit:
                break
    return Page(found, cursor)


_EVENTS = select(*(EVENTS.c[name] for name in StoredEvent.__struct_fields__))
_AFTER = (
    _EVENTS.where(EVENTS.c.number > bindparam("after"))
    .order_by(EVENTS.c.number)
    .limit(bindparam("most", type_=Integer))
)


def event_by_uid(connection: Connection, uid: str) -> StoredEvent | None:
    """The event with this uid."""
    row = connection.execute(_EVENTS.where(EVENTS.c.uid == uid)).one_or_none()
    return _event(row) if row is not None else None


def _event(row: Sequence[Any]) -> StoredEvent:
    number, at, tag, system, data, cause = row
    return StoredEvent(number=number, at=at, tag=tag, system=system, data=_DATA.decode(data), cause=cause)


_DATA = msgspec.json.Decoder(dict[str, Any])


def oldest_event(connection: Connection) -> int:
    """The number of the first event that is still kept; 0 if there is none."""
    return int(connection.scalar(select(func.min(EVENTS.c.number))) or 0)


def newest_event(connection: Connection) -> int:
    """The cursor after the newest event."""
    return int(fetch_value(connection, _NEWEST) or 0)


_NEWEST = select(func.max(EVENTS.c.number))
