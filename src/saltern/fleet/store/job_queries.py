"""Queries about jobs: lists, counts, and what a system must still run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, and_, bindparam, func, or_, select

from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import DEPLOY
from saltern.fleet.store.bulk import fetch, one_of, structs
from saltern.fleet.store.tables import JOBS, RETURNS, TARGETS


class JobRow(Struct, frozen=True, kw_only=True):
    """A job as it is listed."""

    jid: str
    created: float
    expires: float
    user: str
    function: str
    target: str
    expected: int
    open: int
    parent: str | None
    cancelled_at: float | None
    ended: float | None


class TargetRow(Struct, frozen=True, kw_only=True):
    """A job on one system."""

    jid: str
    system: str
    status: str
    why: str
    updated: float
    started: float | None
    ended: float | None
    exit_code: int
    changed: int
    failed: int
    records: int
    back_by: float | None


_JOBS = msgspec.json.Decoder(Job)
JOB_COLUMNS = [JOBS.c[name] for name in JobRow.__struct_fields__]
TARGET_COLUMNS = [TARGETS.c[name] for name in TargetRow.__struct_fields__]


def job(connection: Connection, jid: str) -> JobRow | None:
    row = connection.execute(select(*JOB_COLUMNS).where(JOBS.c.jid == jid)).one_or_none()
    return JobRow(**row._mapping) if row is not None else None


class TokenJob(Struct, frozen=True, kw_only=True):
    """A job as its submission is answered again. ``request`` is empty for jobs of older controllers."""

    jid: str
    expires: float
    request: str
    cursor: int


_OF_TOKEN = select(*[JOBS.c[name] for name in TokenJob.__struct_fields__]).where(
    JOBS.c.user == bindparam("by"), JOBS.c.client_token == bindparam("token")
)


def job_of_token(connection: Connection, user: str, token: str) -> TokenJob | None:
    """The job that this person submitted with this client token."""
    found = structs(TokenJob, fetch(connection, _OF_TOKEN, by=user, token=token))
    return found[0] if found else None


def jobs(connection: Connection, *, before: tuple[float, str] | None = None, limit: int = 50) -> list[JobRow]:
    """Jobs, the newest first; ``before`` is (created, jid) of the last one of the page before."""
    query = newest_jobs(before).limit(limit)
    return [JobRow(**row._mapping) for row in connection.execute(query)]


def newest_jobs(before: tuple[float, str] | None) -> Select[Any]:
    """The query for jobs, the newest first, or those that are older than this one: its time and its id."""
    query = select(*JOB_COLUMNS).order_by(JOBS.c.created.desc(), JOBS.c.jid.desc())
    if before is None:
        return query
    created, jid = before
    return query.where(or_(JOBS.c.created < created, and_(JOBS.c.created == created, JOBS.c.jid < jid)))


def open_children(connection: Connection, jid: str) -> list[str]:
    """The jobs that a job has started for its own user, which have neither ended nor been cancelled."""
    owner = select(JOBS.c.user).where(JOBS.c.jid == jid).scalar_subquery()
    query = select(JOBS.c.jid).where(JOBS.c.parent == jid, JOBS.c.user == owner)
    query = query.where(JOBS.c.ended.is_(None), JOBS.c.cancelled_at.is_(None)).order_by(JOBS.c.jid)
    return [str(one) for one in connection.scalars(query)]


def targets(connection: Connection, jid: str) -> list[TargetRow]:
    """The expected set of a job, by id."""
    query = select(*TARGET_COLUMNS).where(TARGETS.c.jid == jid).order_by(TARGETS.c.system)
    return structs(TargetRow, connection.execute(query).all())


def systems_of(connection: Connection, jid: str) -> set[str]:
    """The ids of the expected set of a job."""
    return {*connection.scalars(select(TARGETS.c.system).where(TARGETS.c.jid == jid)).all()}


def counts(connection: Connection, jid: str) -> dict[str, int]:
    """How many systems have which status."""
    return {str(status): int(number) for status, number in fetch(connection, _COUNTS, of=jid)}


_COUNTS = (
    select(TARGETS.c.status, func.count()).where(TARGETS.c.jid == bindparam("of")).group_by(TARGETS.c.status)
)


class Work(Struct, frozen=True):
    """A job that a system must still run, and until when."""

    job: Job
    expires: float


def work_of(connection: Connection, system: str, now: float, limit: int = 100) -> list[Work]:
    """The jobs that an agent must still run, oldest first."""
    query = (
        select(JOBS.c.work, JOBS.c.expires)
        .join(TARGETS, TARGETS.c.jid == JOBS.c.jid)
        .where(TARGETS.c.system == system, TARGETS.c.status.in_(("queued", "sent")))
        .where(JOBS.c.expires > now, JOBS.c.cancelled_at.is_(None), JOBS.c.function != DEPLOY)
        .order_by(JOBS.c.created, JOBS.c.jid)
        .limit(limit)
    )
    return [Work(_JOBS.decode(work), float(expires)) for work, expires in connection.execute(query)]


def cancelled_jobs(connection: Connection, running: Iterable[str]) -> list[str]:
    """The given jobs that were cancelled."""
    query = select(JOBS.c.jid).where(JOBS.c.jid.in_([*running]), JOBS.c.cancelled_at.is_not(None))
    return sorted(str(jid) for jid in connection.scalars(query))


def body(connection: Connection, jid: str, system: str) -> tuple[str, bytes] | None:
    """The complete return of a system: encoding and bytes; None until all parts have arrived."""
    return bodies(connection, jid, [system]).get(system)


def bodies(connection: Connection, jid: str, systems: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """What each of these systems returned, as ``body`` returns it; only those whose parts have all
    arrived.
    """
    parts: dict[str, list[Sequence[Any]]] = {}
    for row in fetch(connection, _BODIES, of=jid, some=[*systems]):
        parts.setdefault(row[0], []).append(row)
    return {
        system: (str(rows[0][2]), b"".join([bytes(row[3]) for row in rows]))
        for system, rows in parts.items()
        if len(rows) >= rows[0][1]
    }


_BODIES = (
    select(RETURNS.c.system, RETURNS.c.parts, RETURNS.c.encoding, RETURNS.c.body)
    .where(RETURNS.c.jid == bindparam("of"), one_of(RETURNS.c.system, "some"))
    .order_by(RETURNS.c.system, RETURNS.c.part)
)


def body_sizes(connection: Connection, jid: str, systems: Sequence[str]) -> dict[str, int]:
    """How many bytes of a return are stored, for each of these systems that has any."""
    return {str(system): int(size) for system, size in fetch(connection, _SIZES, of=jid, some=[*systems])}


_SIZES = (
    select(RETURNS.c.system, func.sum(func.length(RETURNS.c.body)))
    .where(RETURNS.c.jid == bindparam("of"), one_of(RETURNS.c.system, "some"))
    .group_by(RETURNS.c.system)
)
