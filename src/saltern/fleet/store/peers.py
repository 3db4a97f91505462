"""Counts how many jobs requested by systems have led to a job."""

from __future__ import annotations

from sqlalchemy import Connection, select

from saltern.fleet.store.tables import JOBS, TARGETS

PREFIX = "system:"  # prefix of the id, in the name of a system as the person of a job
FARTHEST = 50  # parents that are looked at


def is_target_of(connection: Connection, jid: str, system: str) -> bool:
    """True if a job was sent to this system."""
    mine = (TARGETS.c.jid == jid) & (TARGETS.c.system == system)
    return connection.scalar(select(TARGETS.c.jid).where(mine)) is not None


def orders_above(connection: Connection, jid: str) -> int:
    """How many jobs of systems are among a job and its parents."""
    found = 0
    for _ in range(FARTHEST):
        row = connection.execute(select(JOBS.c.user, JOBS.c.parent).where(JOBS.c.jid == jid)).one_or_none()
        if row is None:
            break
        found += str(row.user).startswith(PREFIX)
        if not row.parent:
            break
        jid = str(row.parent)
    return found
