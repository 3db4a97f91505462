"""The audit: who did what, in rows that hold the digest of the row before.

``verify`` finds a row that was changed, removed or inserted. Rows removed at the end are found only by
comparing with a digest that was noted elsewhere: note ``head``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, select

from saltern.fleet.store.bulk import fetch, insert_rows
from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import AUDIT

T = TypeVar("T")
FIRST = "0" * 64
PAGE = 1000


class Reason:
    """Why a person asks for something. What lasts longer than the request has none any more."""

    def __init__(self, text: str) -> None:
        self.text = text


REASON: ContextVar[Reason | None] = ContextVar("reason", default=None)


def with_reason(work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """The same work with the reason of now, for another thread."""
    reason = REASON.get()

    def run(connection: Connection) -> T:
        before = REASON.set(reason)
        try:
            return work(connection)
        finally:
            REASON.reset(before)

    return run if reason is not None else work


def add_reason(detail: Mapping[str, object]) -> Mapping[str, object]:
    """A detail with the reason that was given, unless it has one of its own."""
    reason = REASON.get()
    if reason is None or not reason.text or "reason" in detail or "why" in detail:
        return detail
    return {**detail, "reason": reason.text}


class Entry(Struct, frozen=True, kw_only=True):
    """One row."""

    number: int
    at: float
    who: str
    action: str
    detail: bytes
    previous: str
    digest: str


class Head(Struct, frozen=True):
    """The last row: how many there are, and the digest of all of them."""

    number: int = 0
    digest: str = FIRST


def append(connection: Connection, who: str, action: str, detail: Mapping[str, object], now: float) -> Head:
    """Add a row. ``detail`` holds no secrets: it is shown to everyone who may read the audit."""
    serialize(connection, "audit")
    last = head(connection)
    data = msgspec.json.encode(add_reason(detail), order="sorted")
    entry = _entry(last, now, who, action, data)
    insert_rows(connection, AUDIT, [msgspec.structs.asdict(entry)])
    return Head(entry.number, entry.digest)


def head(connection: Connection) -> Head:
    rows = fetch(connection, _LAST)
    return Head(*rows[0]) if rows else Head()


_LAST = select(AUDIT.c.number, AUDIT.c.digest).order_by(AUDIT.c.number.desc()).limit(1)


def page(connection: Connection, *, after: int = 0, limit: int = PAGE) -> list[Entry]:
    """Rows after a number, oldest first."""
    query = select(AUDIT).where(AUDIT.c.number > after).order_by(AUDIT.c.number).limit(limit)
    return [Entry(**{**row._mapping, "detail": bytes(row.detail)}) for row in connection.execute(query)]


def entries(connection: Connection) -> Iterator[Entry]:
    """All rows, oldest first, read page by page."""
    some = page(connection)
    while some:
        yield from some
        some = page(connection, after=some[-1].number)


def verify(connection: Connection, noted: Head | None = None) -> str:
    """What is wrong with the audit; empty if nothing is. ``noted`` is a head that was kept elsewhere."""
    last = Head()
    seen_noted = noted is None or noted.number == 0
    for entry in entries(connection):
        expected = _entry(last, entry.at, entry.who, entry.action, entry.detail)
        if entry.number != expected.number:
            return f"row {expected.number} is missing"
        if entry != expected:
            return f"row {entry.number} was changed, or one before it was"
        last = Head(entry.number, entry.digest)
        if noted is not None and last.number == noted.number:
            if last != noted:
                return f"row {entry.number} is not the one that was noted"
            seen_noted = True
    return "" if seen_noted or noted is None else f"rows after {last.number} were cut off"


def _entry(last: Head, at: float, who: str, action: str, detail: bytes) -> Entry:
    number = last.number + 1
    text = msgspec.json.encode([number, at, who, action, detail, last.digest])
    return Entry(
        number=number,
        at=at,
        who=who,
        action=action,
        detail=detail,
        previous=last.digest,
        digest=hashlib.sha256(text).hexdigest(),
    )
