"""The routes about runs of chains."""

from __future__ import annotations

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
    OutputAnswer,
    OutputListed,
    OutputsQuery,
)
from saltern.fleet.api.handlers import chain_outputs, chain_plans, chain_runs
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.plan_shapes import (
    ChainPlanBody,
    ChainPlanListed,
    ChainPlanMade,
    ChainPlanShown,
    ChainPlansQuery,
)
from saltern.fleet.api.route import Route, get, post

RUN = "/v1/chain-runs/{run}"
CHAIN_ROUTES: tuple[Route, ...] = (
    post(
        "/v1/chain-plans",
        "jobs.submit",
        chain_plans.make_chain_plan,
        ChainPlanMade,
        body=ChainPlanBody,
        status=201,
    ),
    get(
        "/v1/chain-plans",
        "jobs.read",
        chain_plans.list_chain_plans,
        Page[ChainPlanListed],
        query=ChainPlansQuery,
    ),
    get("/v1/chain-plans/{plan}", "jobs.read", chain_plans.get_chain_plan, ChainPlanShown),
    post(
        "/v1/chain-runs",
        "jobs.submit",
        chain_runs.start_chain_run,
        ChainRunMade,
        body=ChainRunBody,
        status=201,
    ),
    get(
        "/v1/chain-runs", "jobs.read", chain_runs.list_chain_runs, Page[ChainRunListed], query=ChainRunsQuery
    ),
    get(RUN, "jobs.read", chain_runs.get_chain_run, ChainRunShown),
    get(f"{RUN}/matrix", "jobs.read", chain_runs.get_chain_matrix, MatrixAnswer),
    get(f"{RUN}/log", "jobs.read", chain_runs.list_chain_log, Page[ChainLogRow], query=PageQuery),
    get(f"{RUN}/legs", "jobs.read", chain_runs.list_chain_legs, Page[LegAnswer], query=PageQuery),
    get(f"{RUN}/legs/{{system}}", "jobs.read", chain_runs.get_chain_leg, LegAnswer),
    get(f"{RUN}/outputs", "jobs.read", chain_outputs.list_run_outputs, Page[OutputListed], query=PageQuery),
    get(
        f"{RUN}/legs/{{system}}/outputs",
        "jobs.read",
        chain_outputs.list_leg_outputs,
        Page[OutputAnswer],
        query=OutputsQuery,
    ),
    post(f"{RUN}/orders", "jobs.cancel", chain_runs.order_chain_run, ChainOrdered, body=ChainOrderBody),
    post(
        f"{RUN}/gates/{{gate}}/votes",
        "approvals.decide",
        chain_runs.vote_on_gate,
        ChainVoted,
        body=ChainVoteBody,
    ),
)
