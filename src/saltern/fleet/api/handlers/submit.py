"""Start a job, and call one off: what the policy decides by function and systems."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import replace

from saltern.fleet.access.ports import Request
from saltern.fleet.api.call import Call
from saltern.fleet.api.problems import denied, unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import CancelAnswer, CancelBody, SubmitAnswer, SubmitBody
from saltern.fleet.controller.submission import Submission
from saltern.fleet.store import job_queries, listings


async def submit_job(call: Call[NoQuery, SubmitBody]) -> SubmitAnswer:
    ask = convert(call.body, Submission, from_attributes=True)
    ask = replace(ask, client_token=call.client_token or None)

    def permit(systems: tuple[str, ...]) -> str:
        request = Request(action="jobs.submit", function=ask.function, systems=systems, test=ask.test)
        return _permitted(call, request)

    made = await call.desk.fleet.submit(call.who, ask, permit=permit)
    return convert(made, SubmitAnswer, from_attributes=True)


async def cancel_job(call: Call[NoQuery, CancelBody]) -> CancelAnswer:
    jid = call.path["jid"]
    row, work = await call.read(job_queries.job, jid), await call.read(listings.work_of, jid)
    if row is None or work is None:
        raise unknown("job", jid)
    if row.user != call.who.name:
        systems = tuple(one.system for one in await call.read(job_queries.targets, jid))
        _permitted(
            call, Request(action="jobs.cancel", function=row.function, systems=systems, test=work.job.test)
        )
    return CancelAnswer(systems=await call.desk.fleet.cancel(call.who, jid, hard=call.body.hard))


def _permitted(call: Call[NoQuery, SubmitBody] | Call[NoQuery, CancelBody], request: Request) -> str:
    """The rule that allows it; raises if none does."""
    desk = call.desk
    decision = desk.access.decide(call.who, request, desk.fleet.match, desk.now())
    if not decision.allowed:
        raise denied(call.who, request.action, decision)
    return decision.rule
