"""Deliveries: which jobs were sent to systems, and which still wait for connected ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Integer, bindparam, select, update

from saltern.fleet.store.bulk import fetch, one_of
from saltern.fleet.store.tables import JOBS, TARGETS


def mark_sent(connection: Connection, jid: str, systems: Sequence[str], now: float) -> None:
    """Record that a job was sent to systems; reports that arrived since stay."""
    connection.execute(_SENT, {"of": jid, "some": [*systems], "at": now})


_SENT = (
    update(TARGETS)
    .where(TARGETS.c.jid == bindparam("of"), one_of(TARGETS.c.system, "some"), TARGETS.c.status == "queued")
    .values(status="sent", updated=bindparam("at"))
)


def mark_unsent(connection: Connection, jid: str, systems: Sequence[str], now: float) -> None:
    """Record that a job could not be sent to systems after all; reports that arrived since stay."""
    connection.execute(_UNSENT, {"of": jid, "some": [*systems], "at": now})


_UNSENT = (
    update(TARGETS)
    .where(TARGETS.c.jid == bindparam("of"), one_of(TARGETS.c.system, "some"), TARGETS.c.status == "sent")
    .values(status="queued", updated=bindparam("at"))
)


def mark_taken(connection: Connection, system: str, jids: Iterable[str], now: float) -> None:
    """Record that a system has these jobs."""
    rows = (TARGETS.c.system == system) & TARGETS.c.jid.in_([*jids]) & (TARGETS.c.status == "queued")
    connection.execute(update(TARGETS).where(rows).values(status="sent", updated=now))


def has_unsent(connection: Connection, before: float, now: float) -> bool:
    """True if an open job has been waiting for a system since ``before``."""
    return connection.execute(_ONE_WAITS, {"before": before, "now": now}).first() is not None


def unsent(connection: Connection, before: float, now: float, limit: int = 5000) -> set[str]:
    """Systems for which an open job has been waiting since ``before``."""
    return {system for (system,) in fetch(connection, _WAITING, before=before, now=now, most=limit)}


_WAITS = (
    select(TARGETS.c.system)
    .join(JOBS, JOBS.c.jid == TARGETS.c.jid)
    .where(TARGETS.c.status.in_(("queued", "sent")), TARGETS.c.updated < bindparam("before"))
    .where(JOBS.c.ended.is_(None), JOBS.c.cancelled_at.is_(None), JOBS.c.expires > bindparam("now"))
)
_ONE_WAITS = _WAITS.limit(1)
_WAITING = _WAITS.distinct().limit(bindparam("most", type_=Integer))
