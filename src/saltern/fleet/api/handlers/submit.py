"""Submit and cancel jobs, which the policy decides by function and systems."""

from __future__ import annotations

from typing import Any

from msgspec import convert
from msgspec.structs import replace

from saltern.fleet.access.approvals import Work, work_of
from saltern.fleet.access.decide import in_scope
from saltern.fleet.access.ports import Decision, Principal, Request, Verdict
from saltern.fleet.api.call import Call
from saltern.fleet.api.job_shapes import (
    CancelAnswer,
    CancelBody,
    SubmitAnswer,
    SubmitBody,
    SubmitQuery,
)
from saltern.fleet.api.once import Known, request_digest, token_reused
from saltern.fleet.api.problems import denial, unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.secret_arguments import conceal_arguments
from saltern.fleet.api.stream import MEDIA, EventStream
from saltern.fleet.api.whole_job import whole_job
from saltern.fleet.controller.submission import Submission, functions_of
from saltern.fleet.store import audit, job_queries, listings
from saltern.fleet.store.database import Database

READ = Request(action="jobs.read")  # people may read the jobs that they have started
FEW = 500  # systems about which it is decided at once
REFUSED = {"jobs.submit": "job.submit", "jobs.cancel": "job.cancel"}


async def submit_job(call: Call[SubmitQuery, SubmitBody]) -> SubmitAnswer | Known | EventStream:
    """Start a job; with `Accept: text/event-stream`, also follow it to its end, with what the systems
    return.
    """
    ask = convert(call.body, Submission, from_attributes=True)
    if token := call.client_token:
        ask = replace(ask, client_token=token, request=request_digest(token, call.request))

    async def permit(systems: tuple[str, ...]) -> str:
        requests = [_request(ask, function, systems) for function in functions_of(ask)]
        rules = [await find_permission(call, request, _work(ask)) for request in requests]
        return rules[0]

    made = await call.desk.fleet.submit(call.who, ask, permit=permit)
    if made.known and made.request not in ("", ask.request):
        raise token_reused()
    if MEDIA in call.headers.get("accept", "") and in_scope(call.who.scopes, READ):
        return whole_job(call, made, returns=call.query.returns)
    answer = convert(replace(made, known=False), SubmitAnswer, from_attributes=True)
    return Known(answer) if made.known else answer


async def cancel_job(call: Call[NoQuery, CancelBody]) -> CancelAnswer:
    """Cancel a job."""
    jid = call.path["jid"]
    row, work = await call.read(job_queries.job, jid), await call.read(listings.work_of, jid)
    if row is None or work is None:
        raise unknown("job", jid)
    request = Request(action="jobs.cancel", function=row.function, test=work.job.test)
    if row.user != call.who.name or not in_scope(call.who.scopes, request):
        systems = tuple(one.system for one in await call.read(job_queries.targets, jid))
        await find_permission(call, replace(request, systems=systems), None)
    return CancelAnswer(systems=await call.desk.fleet.cancel(call.who, jid, hard=call.body.hard))


def _request(ask: Submission, function: str, systems: tuple[str, ...]) -> Request:
    return Request(action="jobs.submit", function=function, systems=systems, test=ask.test)


def _work(ask: Submission) -> Work:
    """What the approvers see, and what the approval is bound to."""
    returners = {"ret": ask.returners, **ask.return_options} if ask.returners else {}
    given = {"args": ask.args, "kwargs": conceal_arguments(ask.kwargs), "environment": ask.environment}
    shown = {**given, **conceal_arguments(returners)}
    words = {**ask.kwargs, "__ret__": returners} if returners else ask.kwargs
    return work_of(ask.target, ask.args, words, environment=ask.environment, tree=ask.tree, shown=shown)


async def find_permission(call: Call[Any, Any], request: Request, work: Work | None) -> str:
    """The rule that allows it; raises if none does."""
    access, match, now = call.desk.access, call.desk.fleet.match, call.desk.now()
    decide = call.look if len(request.systems) <= FEW else call.ask
    decision = await decide(access.decide, call.who, request, match, now)
    if work is not None and decision.verdict is Verdict.NEEDS_APPROVAL:
        decision = await call.ask(access.permit, call.who, request, work, match, now)
    if not decision.allowed:
        if decision.verdict is not Verdict.NEEDS_APPROVAL:  # a request for approval is audited itself
            target = work.target if work is not None else ""
            row = call.desk.refusals.row(call.who.name, _refusal(request, target, decision))
            if row is not None:
                await call.ask(_audit_refusal, call.desk.fleet.database, call.who, request.action, row, now)
        raise denial(call.who, request.action, decision)
    return decision.rule


def _refusal(request: Request, target: str, decision: Decision) -> dict[str, object]:
    """What was refused, and by which rule; without arguments, which may hold secrets."""
    return {
        "function": request.function,
        "target": target,
        "systems": len(request.systems),
        "test": request.test,
        "rule": decision.rule,
        "why": decision.why,
    }


def _audit_refusal(
    database: Database, who: Principal, action: str, detail: dict[str, object], now: float
) -> None:
    with database.write() as connection:
        audit.append(connection, who.name, f"{REFUSED[action]}.refused", detail, now)
