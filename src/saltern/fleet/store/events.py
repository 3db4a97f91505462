"""Events, numbered in the order in which the controller learned of them: the number is a reader's cursor."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, func, insert, select

from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import EVENTS

SCANNED = 5000  # rows that one call looks at for a pattern that few match


class StoredEvent(Struct, frozen=True, kw_only=True):
    """One event."""

    number: int
    at: float
    tag: str
    system: str
    data: dict[str, Any]


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event to be stored; ``system`` is empty for one of the controller's own."""

    tag: str
    data: dict[str, Any]
    at: float
    system: str = ""


class Page(Struct, frozen=True):
    """Some events, and the cursor to ask from next time."""

    events: list[StoredEvent]
    cursor: int


def store_events(connection: Connection, new: Sequence[NewEvent]) -> None:
    """Add events. One transaction at a time, so that a reader never passes a number that comes later."""
    if not new:
        return
    serialize(connection, "events")
    rows = [
        {"at": one.at, "tag": one.tag, "system": one.system, "data": msgspec.json.encode(one.data)}
        for one in new
    ]
    connection.execute(insert(EVENTS), rows)


def read_events(connection: Connection, after: int, pattern: str = "*", limit: int = 500) -> Page:
    """Events after a cursor whose tag matches a glob, oldest first."""
    query = select(EVENTS).where(EVENTS.c.number > after).order_by(EVENTS.c.number).limit(SCANNED)
    found: list[StoredEvent] = []
    cursor = after
    for row in connection.execute(query):
        cursor = int(row.number)
        if fnmatch.fnmatchcase(row.tag, pattern):
            data = msgspec.json.decode(row.data, type=dict[str, Any])
            found.append(StoredEvent(number=cursor, at=row.at, tag=row.tag, system=row.system, data=data))
            if len(found) >= limit:
                break
    return Page(found, cursor)


def oldest_event(connection: Connection) -> int:
    """The number of the first event that is still kept; 0 if there is none."""
    return int(connection.scalar(select(func.min(EVENTS.c.number))) or 0)


def newest_event(connection: Connection) -> int:
    """The cursor that only later events follow."""
    return int(connection.scalar(select(func.max(EVENTS.c.number))) or 0)
