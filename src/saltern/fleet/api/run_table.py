"""``RUN_ROUTES``: runs with many systems, and the fleet at a glance."""

from __future__ import annotations

from saltern.fleet.api.handlers import glance, run_views
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.route import Route, get
from saltern.fleet.api.run_shapes import (
    CauseQuery,
    CausesAnswer,
    GlanceAnswer,
    GlanceQuery,
    MomentsAnswer,
    RecentQuery,
    RowsAnswer,
    RowsQuery,
    ShapesAnswer,
    ShapesQuery,
    StatesAnswer,
    StatesQuery,
    SystemLeg,
)

RUN = "/v1/chain-runs/{run}"
LEGS = "/v1/systems/{system}/legs"
RUN_ROUTES: tuple[Route, ...] = (
    get(f"{RUN}/shapes", "jobs.read", run_views.get_shapes, ShapesAnswer, query=ShapesQuery),
    get(f"{RUN}/rows", "jobs.read", run_views.list_rows, RowsAnswer, query=RowsQuery),
    get(f"{RUN}/causes", "jobs.read", run_views.list_causes, CausesAnswer, query=CauseQuery),
    get(f"{RUN}/moments", "jobs.read", run_views.list_moments, MomentsAnswer),
    get("/v1/causes", "jobs.read", run_views.list_recent_causes, CausesAnswer, query=RecentQuery),
    get(LEGS, "jobs.read", run_views.list_system_legs, Page[SystemLeg], query=PageQuery),
    get("/v1/glance", "systems.read", glance.show_glance, GlanceAnswer, query=GlanceQuery),
    get("/v1/states", "systems.read", glance.list_states, StatesAnswer, query=StatesQuery),
)
