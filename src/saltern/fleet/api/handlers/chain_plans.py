"""Plans of chains: made by a dry run on all systems, shown, listed."""

from __future__ import annotations

from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from saltern.fleet.access.approvals import work_of
from saltern.fleet.access.ports import Request
from saltern.fleet.api.call import Call
from saltern.fleet.api.handlers.submit import find_permission
from saltern.fleet.api.pages import Page, decode_cursor, make_page
from saltern.fleet.api.plan_shapes import (
    ChainPlanBody,
    ChainPlanListed,
    ChainPlanMade,
    ChainPlanShown,
    ChainPlansQuery,
)
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.secret_arguments import conceal_arguments
from saltern.fleet.controller.chains import plan_views
from saltern.fleet.controller.chains.plan_desk import FUNCTION, NewPlan


async def make_chain_plan(call: Call[NoQuery, ChainPlanBody]) -> ChainPlanMade:
    """Ask every system of a target what it would do; the answers are stored as a plan."""
    body = call.body
    words: list[Any] = [body.chain, body.version, body.text]
    desk = call.desk.fleet.chains
    inputs = await desk.show_inputs(body.chain, body.version, body.text, body.inputs)
    shown = {"chain": body.chain, "text": body.text, "inputs": conceal_arguments(inputs)}
    work = work_of(body.target, words, body.inputs, environment=body.environment, shown=shown)

    async def permit(systems: tuple[str, ...]) -> str:
        request = Request(action="jobs.submit", function=FUNCTION, systems=systems, test=True)
        return await find_permission(call, request, work)

    ask = NewPlan(**asdict(body))
    return ChainPlanMade(plan=await call.desk.fleet.chains.plans.make(call.who.name, ask, permit=permit))


async def list_chain_plans(call: Call[ChainPlansQuery, None]) -> Page[ChainPlanListed]:
    """Plans of chains, the newest first."""
    query = call.query
    before = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(plan_views.list_plans, chain=query.chain, before=before, limit=query.limit + 1)
    return make_page(convert(rows, list[ChainPlanListed]), query.limit, lambda one: (one.plan,))


async def get_chain_plan(call: Call[NoQuery, None]) -> ChainPlanShown:
    """A plan by its digest, the beginning of its digest, or its number: what each system would do."""
    return convert(await call.read(plan_views.show_plan, call.path["plan"]), ChainPlanShown)
