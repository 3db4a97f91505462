"""Orchestrations: their processes report here that they begin, and how they ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from msgspec import convert

from saltern.fleet.access.ports import Request
from saltern.fleet.api.call import Call
from saltern.fleet.api.handlers.submit import find_permission
from saltern.fleet.api.orchestration_shapes import OrchestrationBegan, OrchestrationBody, OrchestrationEnd
from saltern.fleet.api.problems import ApiError, unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.controller.orchestrations import FUNCTION, Ended, begin, end
from saltern.fleet.protocol.messages import Job
from saltern.fleet.store import job_queries
from saltern.fleet.store.database import Connection, Database
from saltern.language.diagnostics import Diagnostic

T = TypeVar("T")
P = ParamSpec("P")


async def begin_orchestration(call: Call[NoQuery, OrchestrationBody]) -> OrchestrationBegan:
    """Record an orchestration as a job, to which jobs that name it as their parent belong."""
    body = call.body
    row = await call.read(job_queries.job, body.jid)
    if row is not None and (row.function != FUNCTION or row.user != call.who.name):
        what = f"the number {body.jid} belongs to another job"
        raise ApiError(409, Diagnostic(code="orchestration-known", what=what))
    rule = await find_permission(call, Request(action="jobs.submit", function=FUNCTION, test=body.test), None)
    job = Job(
        jid=body.jid,
        function=FUNCTION,
        args=list(body.sls),
        test=body.test,
        environment=body.environment,
        parent=body.parent,
        user=call.who.name,
        rule=rule,
    )
    began = await call.ask(_write, call.desk.fleet.database, begin, job, body.system, call.desk.now())
    call.desk.fleet.hub.wake()
    return convert(began, OrchestrationBegan, from_attributes=True)


async def end_orchestration(call: Call[NoQuery, OrchestrationEnd]) -> None:
    """Report how an orchestration ended."""
    jid = call.path["jid"]
    row = await call.read(job_queries.job, jid)
    if row is None or row.function != FUNCTION or row.user != call.who.name:
        raise unknown("orchestration", jid)
    ended = convert(call.body, Ended, from_attributes=True)
    await call.ask(_write, call.desk.fleet.database, end, jid, ended, call.desk.now())
    call.desk.fleet.hub.wake()


def _write(
    database: Database, change: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
) -> T:
    with database.write() as connection:
        return change(connection, *args, **options)
