"""Stores the batches of jobs that run on a few of their systems at a time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, select, update

from saltern.fleet.protocol.batch import Batch
from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.tables import JOBS, TARGETS

MOST_AT_ONCE = 500


class BatchedJob(Struct, frozen=True, kw_only=True):
    """A job that has not ended, with its batch and what is sent."""

    jid: str
    batch: Batch
    envelope: str
    expires: float


def batched_jobs(connection: Connection, now: float) -> list[BatchedJob]:
    """The jobs with a batch that are neither over nor cancelled, oldest first."""
    return [
        BatchedJob(
            jid=jid,
            batch=msgspec.json.decode(batch, type=Batch),
            envelope=envelope,
            expires=expires,
        )
        for jid, batch, envelope, expires in fetch(connection, _BATCHED, now=now)
    ]


_BATCHED = (
    select(JOBS.c.jid, JOBS.c.batch, JOBS.c.envelope, JOBS.c.expires)
    .where(JOBS.c.batch.is_not(None), JOBS.c.ended.is_(None), JOBS.c.cancelled_at.is_(None))
    .where(JOBS.c.expires > bindparam("now"))
    .order_by(JOBS.c.created)
)


def release(connection: Connection, jid: str, systems: Sequence[str], now: float) -> None:
    """Release these systems: from now on the job is offered to them."""
    for first in range(0, len(systems), MOST_AT_ONCE):
        some = systems[first : first + MOST_AT_ONCE]
        rows = (TARGETS.c.jid == jid) & TARGETS.c.system.in_(some) & (TARGETS.c.status == "held")
        connection.execute(update(TARGETS).where(rows).values(status="queued", updated=now))
