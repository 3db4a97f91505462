"""How long things are kept: one row for each table that grows. Pruning is done in small steps.

Only what has ended is removed. The audit is kept unless an operator says otherwise.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Column, Connection, Table, delete, func, select

from saltern.fleet.store.tables import EVENTS, JOBS, RECORDS, RETURNS

DAY = 86400.0
STEP = 500  # rows removed in one transaction, so that nothing waits long for it


class Limit(Struct, frozen=True, kw_only=True):
    """At most this old, and at most this many rows."""

    days: float
    rows: int


LIMITS: dict[str, Limit] = {
    "jobs": Limit(days=30, rows=200_000),
    "events": Limit(days=7, rows=2_000_000),
}


def prune(connection: Connection, limits: dict[str, Limit], now: float) -> dict[str, int]:
    """Remove one step of what is too old or too much; return how many rows of each table went."""
    return {
        "jobs": _prune_jobs(connection, limits["jobs"], now),
        "events": _prune_events(connection, limits["events"], now),
    }


def _prune_jobs(connection: Connection, limit: Limit, now: float) -> int:
    """Ended jobs, the oldest first, with all that belongs to them."""
    ended = JOBS.c.ended.is_not(None)
    surplus = _surplus(connection, JOBS, limit.rows)
    old = select(JOBS.c.jid).where(ended, JOBS.c.ended < now - limit.days * DAY)
    first = select(JOBS.c.jid).where(ended).order_by(JOBS.c.created).limit(min(surplus, STEP))
    jids = {*connection.scalars(old.limit(STEP)), *(connection.scalars(first) if surplus else ())}
    for table in (RETURNS, RECORDS, JOBS):
        connection.execute(delete(table).where(table.c.jid.in_(jids)))
    return len(jids)


def _prune_events(connection: Connection, limit: Limit, now: float) -> int:
    number: Column[int] = EVENTS.c.number
    keep_from = 0
    if surplus := _surplus(connection, EVENTS, limit.rows):
        query = select(number).order_by(number).offset(min(surplus, STEP)).limit(1)
        keep_from = int(connection.scalar(query) or 0)
    oldest = select(number).where(EVENTS.c.at < now - limit.days * DAY).order_by(number).limit(STEP)
    gone = connection.execute(delete(EVENTS).where((number < keep_from) | number.in_(oldest)))
    return gone.rowcount


def _surplus(connection: Connection, table: Table, rows: int) -> int:
    return max(0, int(connection.scalar(select(func.count()).select_from(table)) or 0) - rows)
