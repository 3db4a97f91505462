"""Lists that are read page by page: each query takes the key of the last row that the reader has.

The key is unique and never changes, so all pages together contain every row that existed all the time exactly
once, whatever is added or removed meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Integer, bindparam, select

from saltern.fleet.protocol.messages import Job
from saltern.fleet.store.bulk import fetch, structs
from saltern.fleet.store.job_queries import TARGET_COLUMNS, JobRow, TargetRow, newest_jobs
from saltern.fleet.store.systems import System, read_system
from saltern.fleet.store.tables import FACTS, GROUPS, JOBS, RECORDS, RETURNS, SYSTEMS, TARGETS, TOKENS
from saltern.fleet.store.tokens import Token

MOST_IDS = 500  # ids in one statement


class JobFilter(Struct, frozen=True, kw_only=True):
    """Which jobs are listed; empty fields do not restrict them."""

    user: str = ""
    function: str = ""
    parent: str = ""
    system: str = ""
    open: bool = False


class JobWork(Struct, frozen=True, kw_only=True):
    """The arguments of a job, and who cancelled it."""

    job: Job
    broadcast: bool
    cancelled_by: str


class FactsRow(Struct, frozen=True, kw_only=True):
    """The grains of a system, and since when they are these."""

    system: str
    digest: str
    changed_at: float
    grains: dict[str, Any]


class Group(Struct, frozen=True, kw_only=True):
    """A name for a target."""

    name: str
    expression: str


class RecordRow(Struct, frozen=True, kw_only=True):
    """One record of the journal of a job on a system."""

    number: int
    data: Any


def systems_after(connection: Connection, after: str, limit: int, *, state: str = "") -> list[System]:
    """Systems by id, or those whose key has this state."""
    query = select(SYSTEMS).where(SYSTEMS.c.id > after).order_by(SYSTEMS.c.id).limit(limit)
    if state:
        query = query.where(SYSTEMS.c.state == state)
    return [read_system(row._mapping) for row in connection.execute(query)]


def systems_of(connection: Connection, ids: Sequence[str], limit: int, *, state: str = "") -> list[System]:
    """The first ones of these systems, in the order of ``ids``."""
    found: list[System] = []
    for first in range(0, len(ids), MOST_IDS):
        some = ids[first : first + MOST_IDS]
        query = select(SYSTEMS).where(SYSTEMS.c.id.in_(some))
        rows = {str(row.id): read_system(row._mapping) for row in connection.execute(query)}
        found += [rows[id_] for id_ in some if id_ in rows and state in ("", rows[id_].state)]
        if len(found) >= limit:
            break
    return found[:limit]


def facts_of(connection: Connection, system: str) -> FactsRow | None:
    row = connection.execute(select(FACTS).where(FACTS.c.system == system)).one_or_none()
    if row is None:
        return None
    grains = msgspec.json.decode(row.grains, type=dict[str, Any])
    return FactsRow(system=row.system, digest=row.digest, changed_at=row.changed_at, grains=grains)


def jobs_before(
    connection: Connection, before: tuple[float, str] | None, limit: int, only: JobFilter
) -> list[JobRow]:
    """Jobs, the newest first; ``before`` is (created, jid) of the last one that the reader has."""
    query = newest_jobs(before).limit(limit)
    for column in ("user", "function", "parent"):
        if value := getattr(only, column):
            query = query.where(JOBS.c[column] == value)
    if only.open:
        query = query.where(JOBS.c.ended.is_(None))
    if only.system:
        query = query.where(JOBS.c.jid.in_(select(TARGETS.c.jid).where(TARGETS.c.system == only.system)))
    return [JobRow(**row._mapping) for row in connection.execute(query)]


def work_of(connection: Connection, jid: str) -> JobWork | None:
    query = select(JOBS.c.work, JOBS.c.broadcast, JOBS.c.cancelled_by).where(JOBS.c.jid == jid)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    job = msgspec.json.decode(row.work, type=Job)
    return JobWork(job=job, broadcast=bool(row.broadcast), cancelled_by=row.cancelled_by)


def target(connection: Connection, jid: str, system: str) -> TargetRow | None:
    query = select(*TARGET_COLUMNS).where(TARGETS.c.jid == jid, TARGETS.c.system == system)
    row = connection.execute(query).one_or_none()
    return TargetRow(**row._mapping) if row is not None else None


def targets_after(
    connection: Connection, jid: str, after: str, limit: int, *, status: str = ""
) -> list[TargetRow]:
    """The expected set of a job by id, or those that have this status."""
    query = select(*TARGET_COLUMNS).where(TARGETS.c.jid == jid, TARGETS.c.system > after)
    if status:
        query = query.where(TARGETS.c.status == status)
    return structs(TargetRow, connection.execute(query.order_by(TARGETS.c.system).limit(limit)).all())


def returned_after(connection: Connection, jid: str, after: str, limit: int) -> list[TargetRow]:
    """The systems of a job from which at least a part of a return has come, by id."""
    return structs(TargetRow, fetch(connection, _RETURNED, of=jid, after=after, most=limit))


_RETURNED = (
    select(*TARGET_COLUMNS)
    .where(TARGETS.c.jid == bindparam("of"), TARGETS.c.system > bindparam("after"))
    .where(TARGETS.c.system.in_(select(RETURNS.c.system).where(RETURNS.c.jid == bindparam("of"))))
    .order_by(TARGETS.c.system)
    .limit(bindparam("most", type_=Integer))
)


def records_after(connection: Connection, jid: str, system: str, after: int, limit: int) -> list[RecordRow]:
    """Records of a job's journal on a system, from the first; ``after`` is -1 for all."""
    query = (
        select(RECORDS.c.number, RECORDS.c.data)
        .where(RECORDS.c.jid == jid, RECORDS.c.system == system, RECORDS.c.number > after)
        .order_by(RECORDS.c.number)
        .limit(limit)
    )
    return [
        RecordRow(number=row.number, data=msgspec.json.decode(row.data)) for row in connection.execute(query)
    ]


def tokens_after(connection: Connection, after: str, limit: int) -> list[Token]:
    """Join tokens by id, without their digests."""
    query = select(TOKENS).where(TOKENS.c.id > after).order_by(TOKENS.c.id).limit(limit)
    rows = connection.execute(query)
    return [Token(**{name: getattr(row, name) for name in Token.__struct_fields__}) for row in rows]


def groups_after(connection: Connection, after: str, limit: int) -> list[Group]:
    query = select(GROUPS).where(GROUPS.c.name > after).order_by(GROUPS.c.name).limit(limit)
    return [Group(name=row.name, expression=row.expression) for row in connection.execute(query)]
