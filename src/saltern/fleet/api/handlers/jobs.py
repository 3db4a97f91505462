"""Jobs: lists, one of them, its systems, what they returned and their journals."""

from __future__ import annotations

from typing import Any

from msgspec import convert
from msgspec.structs import asdict, replace

from saltern.fleet.api.call import Call
from saltern.fleet.api.job_shapes import (
    JobAnswer,
    JobListed,
    JobsQuery,
    RecordAnswer,
    ReturnAnswer,
    TargetAnswer,
    TargetsQuery,
)
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, make_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.returns import make_return, returns_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.secret_arguments import conceal_arguments
from saltern.fleet.store import job_queries, listings
from saltern.fleet.store.job_queries import JobRow


async def list_jobs(call: Call[JobsQuery, None]) -> Page[JobListed]:
    """Jobs, the newest first."""
    query = call.query
    before = decode_cursor(query.cursor, tuple[float, str]) if query.cursor else None
    only = convert(query, listings.JobFilter, from_attributes=True)
    rows = await call.read(listings.jobs_before, before, query.limit + 1, only)
    found = [convert(row, JobListed, from_attributes=True) for row in rows]
    return make_page(found, query.limit, lambda one: (one.created, one.jid))


async def get_job(call: Call[NoQuery, None]) -> JobAnswer:
    """One job, and how many systems have which status."""
    jid = call.path["jid"]
    row, work, counts = await call.read(_job_work, jid)
    if row is None or work is None:
        raise unknown("job", jid)
    job = work.job
    return JobAnswer(
        **asdict(row),
        args=job.args,
        kwargs=conceal_arguments(job.kwargs),
        test=job.test,
        changing=job.changing,
        environment=job.environment,
        tree=job.tree,
        rule=job.rule,
        cancelled_by=work.cancelled_by,
        counts=counts,
    )


def _job_work(connection: Any, jid: str) -> tuple[JobRow | None, listings.JobWork | None, dict[str, int]]:
    """A job, its work, and how many systems have which status: one moment of the database."""
    found = job_queries.job(connection, jid)
    if found is None:
        return None, None, {}
    return found, listings.work_of(connection, jid), job_queries.counts(connection, jid)


async def list_targets(call: Call[TargetsQuery, None]) -> Page[TargetAnswer]:
    """The systems of a job, and its progress on each."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(
        listings.targets_after, call.path["jid"], after, query.limit + 1, status=query.status
    )
    if not rows:
        await _check_job(call)
    found = [_with_progress(call, convert(row, TargetAnswer, from_attributes=True)) for row in rows]
    return make_page(found, query.limit, lambda one: (one.system,))


def _with_progress(call: Call[Any, None], one: TargetAnswer) -> TargetAnswer:
    """The running systems, with their progress."""
    heard = call.desk.fleet.progress(one.jid, one.system) if one.status == "running" else None
    return replace(one, done=heard.done, total=heard.total, state=heard.state) if heard else one


async def list_returns(call: Call[PageQuery, None]) -> Page[ReturnAnswer]:
    """What the systems returned. A page ends early if the bodies are large."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    found, more = await call.read(returns_page, call.path["jid"], after, query.limit)
    if not found:
        await _check_job(call)
    return make_page(found, len(found) - more, lambda one: (one.system,))


async def get_return(call: Call[NoQuery, None]) -> ReturnAnswer:
    """What one system returned."""
    jid, system = call.path["jid"], call.path["system"]
    row = await call.read(listings.target, jid, system)
    found = await call.read(make_return, row) if row is not None else None
    if found is None:
        raise unknown(f"return of job {jid} from", system)
    return found


async def list_records(call: Call[PageQuery, None]) -> Page[RecordAnswer]:
    """The journal of a job on a system, record by record."""
    jid, system = call.path["jid"], call.path["system"]
    if await call.read(listings.target, jid, system) is None:
        raise unknown(f"part of job {jid} on", system)
    query = call.query
    after = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else -1
    rows = await call.read(listings.records_after, jid, system, after, query.limit + 1)
    found = [convert(row, RecordAnswer, from_attributes=True) for row in rows]
    return make_page(found, query.limit, lambda one: (one.number,))


async def _check_job(call: Call[Any, None]) -> None:
    if await call.read(job_queries.job, call.path["jid"]) is None:
        raise unknown("job", call.path["jid"])
