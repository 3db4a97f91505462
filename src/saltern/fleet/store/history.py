"""Past events, the newest first, and how many there were over time."""

from __future__ import annotations

import fnmatch
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, select

from saltern.fleet.store.events import StoredEvent
from saltern.fleet.store.tables import EVENTS

SCANNED = 20_000  # rows that one page looks at for a pattern that few match
COUNTED = 200_000  # rows that are counted at most; the newest of them


class Wanted(Struct, frozen=True, kw_only=True):
    """Which events: a glob for their tags, a system, a part of the time."""

    tag: str = "*"
    system: str = ""
    since: float | None = None
    until: float | None = None


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    prefix = wanted.tag[: next((n for n, one in enumerate(wanted.tag) if one in "*?["), len(wanted.tag))]
    if prefix:
        found.append(EVENTS.c.tag.startswith(prefix, autoescape=True))
    if wanted.system:
        found.append(EVENTS.c.system == wanted.system)
    if wanted.since is not None:
        found.append(EVENTS.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(EVENTS.c.at < wanted.until)
    return found


def events_before(
    connection: Connection, wanted: Wanted, before: int | None, limit: int
) -> list[StoredEvent]:
    """Events before a number, the newest first."""
    query = select(EVENTS).where(*_conditions(wanted)).order_by(EVENTS.c.number.desc()).limit(SCANNED)
    if before is not None:
        query = query.where(EVENTS.c.number < before)
    found: list[StoredEvent] = []
    for row in connection.execution_options(yield_per=500).execute(query):
        if fnmatch.fnmatchcase(row.tag, wanted.tag):
            data = msgspec.json.decode(row.data, type=dict[str, Any])
            found.append(
                StoredEvent(number=int(row.number), at=row.at, tag=row.tag, system=row.system, data=data)
            )
            if len(found) >= limit:
                break
    return found


def counts_over_time(
    connection: Connection, wanted: Wanted, since: float, until: float, parts: int
) -> dict[str, list[int]]:
    """How many events each part of the time has, by the first two words of their tags."""
    span = msgspec.structs.replace(wanted, since=since, until=until)
    query = select(EVENTS.c.at, EVENTS.c.tag).where(*_conditions(span))
    rows = connection.execute(query.order_by(EVENTS.c.number.desc()).limit(COUNTED))
    width = max(until - since, 1e-9) / parts
    found: dict[str, list[int]] = {}
    matches = None if wanted.tag in ("", "*") else wanted.tag
    for at, tag in rows:
        if matches is None or fnmatch.fnmatchcase(tag, matches):
            words = "/".join(tag.split("/", 2)[:2])
            found.setdefault(words, [0] * parts)[min(parts - 1, int((at - since) / width))] += 1
    return found
