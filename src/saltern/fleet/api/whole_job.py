"""A job in one answer: its start, every notice, and at its end what the systems returned.

Three requests in one: to start the job, to follow it and to fetch its returns. A reader that loses the
connection follows the job by its id, from the last notice it has. One that loses it before the first notice
sends the request again: with the same client token it is the same job.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from saltern.fleet.api.call import Call
from saltern.fleet.api.follow import Start, job_notices, job_start
from saltern.fleet.api.returns import read_returns
from saltern.fleet.api.stream import EventStream
from saltern.fleet.controller import submission
from saltern.fleet.protocol.notices import JobEnded, Notice, Returned, Submitted
from saltern.fleet.store.job_queries import TargetRow

AT_ONCE = 500  # returns that are read at once


def whole_job(call: Call[Any, Any], made: submission.Submitted, *, returns: bool) -> EventStream:
    """All about a job that has just been submitted; ``returns``: with what the systems return."""
    first = replace(convert(made, Submitted, from_attributes=True), number=made.cursor)
    notices = _notices(call, made, returns=returns)
    return EventStream(notices, call.desk.closing, call.is_allowed, status=201, first=first)


async def _notices(
    call: Call[Any, Any], made: submission.Submitted, *, returns: bool
) -> AsyncIterator[Notice]:
    """What happens, and what the systems returned."""
    start: Start | None = Start(cursor=made.cursor, first=[])
    if made.known:
        start = await call.read(job_start, made.jid, None)
    if start is None:  # it was removed at this moment
        return
    async for notice in job_notices(call.desk.fleet, made.jid, start, made.expected):
        if not returns or not isinstance(notice, JobEnded):
            yield notice
            continue
        count = 0
        async for one in _returns(call, made.jid):
            yield one
            count += 1
        yield replace(notice, returns=count)


async def _returns(call: Call[Any, Any], jid: str) -> AsyncIterator[Returned]:
    """What the systems returned, read page by page."""
    after, following = "", True
    while following:
        page, next_row = await call.read(read_returns, jid, after, AT_ONCE, _make_notice)
        for one in page:
            yield one
            after = one.system
        following = next_row is not None


def _make_notice(row: TargetRow, body: object) -> Returned:
    return Returned(
        at=row.updated,
        jid=row.jid,
        system=row.system,
        status=row.status,
        why=row.why,
        exit_code=row.exit_code,
        changed=row.changed,
        failed=row.failed,
        back_by=row.back_by,
        body=body,
    )
