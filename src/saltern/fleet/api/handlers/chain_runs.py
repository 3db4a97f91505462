"""Runs of chains: start, show and control them, and vote on their gates."""

from __future__ import annotations

from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from saltern.chains.inputs import MASK
from saltern.fleet.access.approvals import work_of
from saltern.fleet.access.decide import in_scope
from saltern.fleet.access.ports import Request
from saltern.fleet.api.call import Call
from saltern.fleet.api.chain_shapes import (
    ChainLogRow,
    ChainOrderBody,
    ChainOrdered,
    ChainRunBody,
    ChainRunListed,
    ChainRunMade,
    ChainRunShown,
    ChainRunsQuery,
    ChainVoteBody,
    ChainVoted,
    LegAnswer,
    MatrixAnswer,
)
from saltern.fleet.api.handlers.submit import find_permission
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, make_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.secret_arguments import conceal_arguments
from saltern.fleet.chains.control import Order
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.desk import NewRun
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.store import chain_runs
from saltern.language.diagnostics import Diagnostic, OperationError

FUNCTION = "chain.run"


async def start_chain_run(call: Call[NoQuery, ChainRunBody]) -> ChainRunMade:
    """Run a chain on the systems of a target."""
    body = call.body
    if bool(body.plan) == (body.target is not None):
        what = "a run needs either a plan or a target"
        raise OperationError(Diagnostic(code="chain-request", what=what, fix="give one of them"))
    given = {name: value for name, value in asdict(body).items() if name != "client_token"}
    target = body.target or ""
    ask = NewRun(**{**given, "target": target}, client_token=call.client_token or None)
    named = {"plan": body.plan} if body.plan else {"chain": body.chain, "text": body.text}
    words: list[Any] = [body.chain, body.version, body.text, *([body.plan] if body.plan else [])]
    desk = call.desk.fleet.chains
    inputs: dict[str, Any] = dict.fromkeys(body.inputs, MASK)  # with a plan, only secret inputs are given
    if not body.plan:
        inputs = await desk.show_inputs(body.chain, body.version, body.text, body.inputs)
    shown = {**named, "inputs": conceal_arguments(inputs)}
    work = work_of(target, words, body.inputs, environment=body.environment, shown=shown)

    async def permit(systems: tuple[str, ...]) -> str:
        return await find_permission(
            call, Request(action="jobs.submit", function=FUNCTION, systems=systems), work
        )

    made = await desk.start(call.who.name, ask, permit=permit)
    return convert(made, ChainRunMade, from_attributes=True)


async def list_chain_runs(call: Call[ChainRunsQuery, None]) -> Page[ChainRunListed]:
    """Runs of chains, the newest first."""
    query = call.query
    before = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(
        views.list_runs, chain=query.chain, is_open=query.open, before=before, limit=query.limit + 1
    )
    return make_page(convert(rows, list[ChainRunListed]), query.limit, lambda one: (one.run,))


async def get_chain_run(call: Call[NoQuery, None]) -> ChainRunShown:
    """One run: its waves, its gates and each of its systems."""
    return convert(await _read(call, views.show_run), ChainRunShown)


async def get_chain_matrix(call: Call[NoQuery, None]) -> MatrixAnswer:
    """Systems by actions, with the status of each."""
    return convert(await _read(call, views.matrix), MatrixAnswer)


async def get_chain_leg(call: Call[NoQuery, None]) -> LegAnswer:
    """One system of a run with all its steps and its orders."""
    run, system = call.path["run"], call.path["system"]
    found = await call.read(views.leg, run, system)
    if found is None:
        raise unknown(f"leg of run {run} on", system)
    return convert(found, LegAnswer)


async def list_chain_legs(call: Call[PageQuery, None]) -> Page[LegAnswer]:
    """The systems of a run, each with all its steps, in the order of their waves."""
    run, query = call.path["run"], call.query
    if await call.read(chain_runs.run_row, run) is None:
        raise unknown("run", run)
    first = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else 0
    rows = await call.read(views.legs, run, first, query.limit + 1)
    return make_page(convert(rows, list[LegAnswer]), query.limit, lambda _row: (first + query.limit,))


async def list_chain_log(call: Call[PageQuery, None]) -> Page[ChainLogRow]:
    """What happened to a run: orders, votes and what was sent, oldest first."""
    rows = convert(await _read(call, views.log), list[ChainLogRow])
    first = decode_cursor(call.query.cursor, tuple[int])[0] if call.query.cursor else 0
    part = rows[first : first + call.query.limit + 1]
    return make_page(part, call.query.limit, lambda _row: (first + call.query.limit,))


async def order_chain_run(call: Call[NoQuery, ChainOrderBody]) -> ChainOrdered:
    """Pause, resume, cancel, retry, skip, mark an action as done, or release from quarantine."""
    run, body = call.path["run"], call.body
    row = await call.read(chain_runs.run_row, run)
    if row is None:
        raise unknown("run", run)
    request = Request(action="jobs.cancel", function=FUNCTION)
    if row["author"] != call.who.name or not in_scope(call.who.scopes, request):
        systems = tuple(leg["system"] for leg in await call.read(chain_runs.leg_rows, run))
        await find_permission(call, Request(action="jobs.cancel", function=FUNCTION, systems=systems), None)
    order = Order(
        verb=body.verb,
        systems=tuple(body.systems),
        waves=tuple(body.waves),
        step=body.step,
        reason=body.reason,
        hard=body.hard,
        despite_failures=body.despite_failures,
        inputs=body.inputs,
    )
    return ChainOrdered(changed=await call.desk.fleet.chains.order(call.who.name, run, order))


async def vote_on_gate(call: Call[NoQuery, ChainVoteBody]) -> ChainVoted:
    """Approve or reject a gate of a run of another person."""
    body, gate = call.body, call.path["gate"]
    ballot = Ballot(approves=body.approves, plan_sha256=body.plan_sha256, why=body.reason)
    voter = Voter(call.who.name, call.who.groups)
    status = await call.desk.fleet.chains.vote(voter, call.path["run"], gate, ballot)
    return ChainVoted(gate=gate, status=status)


async def _read(call: Call[Any, None], view: Any) -> Any:
    found = await call.read(view, call.path["run"])
    if found is None or (found == [] and await call.read(chain_runs.run_row, call.path["run"]) is None):
        raise unknown("run", call.path["run"])
    return found
