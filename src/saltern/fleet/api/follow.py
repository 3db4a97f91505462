"""The beginning of a stream: the reader's cursor, what it missed, and the status of a job."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from saltern.fleet.controller.service import Fleet
from saltern.fleet.protocol.notices import Happened, JobEnded, Missed, Notice, StatusChanged
from saltern.fleet.store import job_queries
from saltern.fleet.store.events import newest_event, oldest_event
from saltern.fleet.store.job_queries import JobRow, TargetRow
from saltern.fleet.store.statuses import WAITING


class Start(Struct, frozen=True, kw_only=True):
    """Where a reader begins: after ``cursor``, with ``first`` sent before that. ``over``: nothing follows."""

    cursor: int
    first: list[Notice]
    over: bool = False


def events_start(connection: Any, after: int | None) -> Start:
    """A reader of all events. It is informed if its cursor is no longer, or not yet, in the database."""
    newest = newest_event(connection)
    if after is None:
        return Start(cursor=newest, first=[])
    if after > newest:  # the database was restored from a backup
        return Start(cursor=newest, first=[Missed(number=newest)])
    oldest = oldest_event(connection)
    lost = max(0, oldest - after - 1)
    return Start(cursor=after, first=[Missed(count=lost, number=after)] if lost else [])


def job_start(connection: Any, jid: str, after: int | None) -> Start | None:
    """A reader of a job, which gets the job's current state unless it has a cursor; None: no such job."""
    row = job_queries.job(connection, jid)
    if row is None:
        return None
    begin = events_start(connection, after)
    if after is not None and not begin.first and row.ended is None:
        return begin
    statuses = [_status(one) for one in job_queries.targets(connection, jid)]
    first = [*begin.first, *(one for one in statuses if one.status not in WAITING)]
    if row.ended is None:
        return Start(cursor=newest_event(connection), first=first)
    return Start(cursor=0, first=[*first, _end_notice(connection, row)], over=True)


def _status(row: TargetRow) -> StatusChanged:
    return StatusChanged(
        at=row.updated,
        jid=row.jid,
        system=row.system,
        status=row.status,
        why=row.why,
        exit_code=row.exit_code,
        changed=row.changed,
        failed=row.failed,
        back_by=row.back_by,
    )


def _end_notice(connection: Any, row: JobRow) -> JobEnded:
    return JobEnded(at=row.ended or 0.0, jid=row.jid, counts=job_queries.counts(connection, row.jid))


async def job_notices(
    fleet: Fleet, jid: str, start: Start, systems: Collection[str] = ()
) -> AsyncIterator[Notice]:
    """The notices of a job, until it has ended. ``systems``: those of the job, if they are known."""
    for notice in start.first:
        yield notice
    if start.over:
        return
    async for notice in fleet.follow(jid, after=start.cursor, systems=systems):
        yield notice
        if isinstance(notice, JobEnded):
            return


async def event_notices(fleet: Fleet, start: Start, tag: str) -> AsyncIterator[Notice]:
    """Everything that happens, or the events whose tag matches a glob."""
    for notice in start.first:
        yield notice
    async for notice in fleet.follow(None, after=start.cursor):
        if tag == "*" or (isinstance(notice, Happened) and fnmatchcase(notice.tag, tag)):
            yield notice
