"""Retention: one row for each table that grows. Rows are removed in small steps.

Only what has ended is removed. The audit is kept unless an operator says otherwise.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Column, Connection, Table, delete, func, or_, select

from saltern.fleet.store.access_tables import APPROVALS, POLICIES
from saltern.fleet.store.approvals import REJECTED, USED
from saltern.fleet.store.calendar_tables import NOTIFICATIONS
from saltern.fleet.store.chain_tables import CHAIN_PLANS, CHAIN_RUNS
from saltern.fleet.store.reactions import prune_reactions
from saltern.fleet.store.tables import EVENTS, JOBS, RECORDS, RETURNS

DAY = 86400.0
FEW = 20  # runs of chains: each has many rows
STEP = 500  # rows removed in one transaction, so that nothing waits long for it


class Limit(Struct, frozen=True, kw_only=True):
    """At most this old, and at most this many rows."""

    days: float
    rows: int


LIMITS: dict[str, Limit] = {
    "jobs": Limit(days=30, rows=200_000),
    "events": Limit(days=7, rows=2_000_000),
    "approvals": Limit(days=365, rows=50_000),
    "policies": Limit(days=3650, rows=1000),
    "chains": Limit(days=365, rows=20_000),
    "notifications": Limit(days=30, rows=200_000),
}


def prune(connection: Connection, limits: dict[str, Limit], now: float) -> dict[str, int]:
    """Remove one step of what is too old or exceeds a limit; return how many rows of each table were
    removed.
    """
    return {
        "jobs": _prune_jobs(connection, limits["jobs"], now),
        "events": _prune_events(connection, limits["events"], now),
        "reactions": prune_reactions(connection, now - limits["events"].days * DAY, STEP),
        "approvals": _prune_approvals(connection, limits["approvals"], now),
        "policies": _prune_policies(connection, limits["policies"], now),
        "chains": _prune_chain_runs(connection, limits["chains"], now),
        "notifications": _prune_notifications(connection, limits["notifications"], now),
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


def _prune_approvals(connection: Connection, limit: Limit, now: float) -> int:
    """Requests that can be neither decided nor used any more, the oldest first, with their votes."""
    over = or_(APPROVALS.c.state.in_((REJECTED, USED)), APPROVALS.c.expires <= now)
    old = select(APPROVALS.c.id).where(over, APPROVALS.c.expires < now - limit.days * DAY).limit(STEP)
    ids = {*connection.scalars(old)}
    if surplus := _surplus(connection, APPROVALS, limit.rows):
        first = select(APPROVALS.c.id).where(over).order_by(APPROVALS.c.asked_at)
        ids |= {*connection.scalars(first.limit(min(surplus, STEP)))}
    connection.execute(delete(APPROVALS).where(APPROVALS.c.id.in_(ids)))
    return len(ids)


def _prune_policies(connection: Connection, limit: Limit, now: float) -> int:
    """Remove old versions. The current one stays, and so does the newest of each source: a file that has not
    changed must be recognised.
    """
    version: Column[int] = POLICIES.c.version
    kept = {*connection.scalars(select(func.max(version)).group_by(POLICIES.c.source))}
    past = select(version).where(version.not_in(kept)).order_by(version)
    gone = {*connection.scalars(past.where(POLICIES.c.made_at < now - limit.days * DAY).limit(STEP))}
    if surplus := _surplus(connection, POLICIES, max(limit.rows, len(kept))):
        gone |= {*connection.scalars(past.limit(min(surplus, STEP)))}
    connection.execute(delete(POLICIES).where(version.in_(gone)))
    return len(gone)


def _prune_chain_runs(connection: Connection, limit: Limit, now: float) -> int:
    """Ended runs of chains, the oldest first, with their legs, steps, outputs, orders and votes; and plans of
    that age. The chains themselves and their versions stay.
    """
    ended, run = CHAIN_RUNS.c.ended.is_not(None), CHAIN_RUNS.c.id
    old = select(run).where(ended, CHAIN_RUNS.c.ended < now - limit.days * DAY).limit(FEW)
    gone = {*connection.scalars(old)}
    if surplus := _surplus(connection, CHAIN_RUNS, limit.rows):
        first = select(run).where(ended).order_by(CHAIN_RUNS.c.created).limit(min(surplus, FEW))
        gone |= {*connection.scalars(first)}
    connection.execute(delete(CHAIN_RUNS).where(run.in_(gone)))
    plans = select(CHAIN_PLANS.c.id).where(CHAIN_PLANS.c.created < now - limit.days * DAY).limit(FEW)
    connection.execute(delete(CHAIN_PLANS).where(CHAIN_PLANS.c.id.in_({*connection.scalars(plans)})))
    return len(gone)


def _prune_notifications(connection: Connection, limit: Limit, now: float) -> int:
    """Remove sent and dead notifications; waiting ones stay."""
    number: Column[int] = NOTIFICATIONS.c.number
    over = or_(NOTIFICATIONS.c.done.is_not(None), NOTIFICATIONS.c.next_at.is_(None))
    past = select(number).where(over).order_by(number)
    gone = {*connection.scalars(past.where(NOTIFICATIONS.c.created < now - limit.days * DAY).limit(STEP))}
    if surplus := _surplus(connection, NOTIFICATIONS, limit.rows):
        gone |= {*connection.scalars(past.limit(min(surplus, STEP)))}
    connection.execute(delete(NOTIFICATIONS).where(number.in_(gone)))
    return len(gone)


def _surplus(connection: Connection, table: Table, rows: int) -> int:
    return max(0, int(connection.scalar(select(func.count()).select_from(table)) or 0) - rows)
