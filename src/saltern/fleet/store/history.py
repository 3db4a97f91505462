"""Past events, the newest first, and how many there were over time."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Integer, cast, func, select

from saltern.fleet.store.tables import EVENTS

SCANNED = 20_000  # rows that one page looks at for a pattern that few match
COUNTED = 20_000  # rows that are matched one by one at most; the newest of them
LAST = "\U0010ffff"  # no character is behind it
KINDS = (  # how a tag begins, and what the event is about
    ("saltern/alarm", "alarm"),
    ("salt/presence", "presence"),
    ("salt/minion", "presence"),
    ("salt/job", "job"),
    ("saltern/job", "job"),
    ("salt/key", "key"),
    ("salt/auth", "key"),
    ("saltern/chain", "chain"),
)


LONGEST = max(len(prefix) for prefix, _ in KINDS)


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
        found += [EVENTS.c.tag >= prefix, EVENTS.c.tag < prefix + LAST]
    if wanted.system:
        found.append(EVENTS.c.system == wanted.system)
    if wanted.since is not None:
        found.append(EVENTS.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(EVENTS.c.at < wanted.until)
    return found


class PastEvent(NamedTuple):
    """An event; ``data`` is JSON."""

    number: int
    at: float
    tag: str
    system: str
    data: bytes


def events_before(connection: Connection, wanted: Wanted, before: int | None, limit: int) -> list[PastEvent]:
    """Events before a number, the newest first."""
    columns = [EVENTS.c[name] for name in PastEvent._fields]
    query = select(*columns).where(*_conditions(wanted)).order_by(EVENTS.c.number.desc()).limit(SCANNED)
    if before is not None:
        query = query.where(EVENTS.c.number < before)
    found: list[PastEvent] = []
    fits = re.compile(fnmatch.translate(wanted.tag)).match
    for row in connection.execution_options(yield_per=500).execute(query):
        if fits(row.tag):
            found.append(PastEvent(int(row.number), row.at, row.tag, row.system, bytes(row.data)))
            if len(found) >= limit:
                break
    return found


def counts_over_time(
    connection: Connection, wanted: Wanted, since: float, until: float, parts: int
) -> dict[str, list[int]]:
    """How many events each part of the time has, by what they are about."""
    span = msgspec.structs.replace(wanted, since=since, until=until)
    width = max(until - since, 1e-9) / parts
    found: dict[str, list[int]] = {}
    for kind, part, number in _count_events(connection, span, since, width):
        found.setdefault(kind, [0] * parts)[max(0, min(parts - 1, int(part)))] += int(number)
    return found


def _count_events(connection: Connection, span: Wanted, since: float, width: float) -> Iterable[Any]:
    """Kind, part of the time, number. The database counts, unless a pattern has to be matched tag by tag."""
    begin = func.substr(EVENTS.c.tag, 1, LONGEST)
    place = (EVENTS.c.at - since) / width
    is_sqlite = connection.dialect.name == "sqlite"  # there a cast cuts, elsewhere it rounds
    part = cast(place, Integer) if is_sqlite else func.floor(place)
    if not set("*?[") & set(span.tag.removesuffix("*")):
        query = select(begin.label("begin"), part.label("part"), func.count()).where(*_conditions(span))
        rows = connection.execute(query.group_by("begin", "part"))
        return [(kind_of(one), place, number) for one, place, number in rows]
    newest = EVENTS.c.number.desc()
    query = select(place, EVENTS.c.tag).where(*_conditions(span))
    rows = connection.execute(query.order_by(newest).limit(COUNTED))
    return [(kind_of(tag), at, 1) for at, tag in rows if fnmatch.fnmatchcase(tag, span.tag)]


@lru_cache(maxsize=4096)
def kind_of(tag: str) -> str:
    """What an event is about, by how its tag begins."""
    return next((name for prefix, name in KINDS if tag.startswith(prefix)), "other")
