"""``ROUTES``: the whole HTTP API of a controller.

Routing, validation, the policy's actions, OpenAPI and the page docs/reference/api.md are made
from this table.
"""

from __future__ import annotations

from saltern.fleet.api.access_table import ACCESS_ROUTES
from saltern.fleet.api.chain_table import CHAIN_ROUTES
from saltern.fleet.api.console_table import CONSOLE_ROUTES
from saltern.fleet.api.handlers import (
    audit,
    events,
    jobs,
    keys,
    orchestrations,
    status,
    submit,
    systems,
    trees,
)
from saltern.fleet.api.job_shapes import (
    AuditAnswer,
    AuditNoted,
    AuditVerified,
    CancelAnswer,
    CancelBody,
    EventsAnswer,
    EventsQuery,
    FollowQuery,
    JobAnswer,
    JobListed,
    JobsQuery,
    NewestEvent,
    RecordAnswer,
    ReturnAnswer,
    SubmitAnswer,
    SubmitBody,
    SubmitQuery,
    TargetAnswer,
    TargetsQuery,
)
from saltern.fleet.api.library_table import LIBRARY_ROUTES
from saltern.fleet.api.orchestration_shapes import OrchestrationBegan, OrchestrationBody, OrchestrationEnd
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.reactor_table import REACTOR_ROUTES
from saltern.fleet.api.route import Route, delete, get, post
from saltern.fleet.api.run_table import RUN_ROUTES
from saltern.fleet.api.shapes import (
    AcceptBody,
    CaAnswer,
    DiffAnswer,
    DiffQuery,
    FactsAnswer,
    GroupAnswer,
    GroupBody,
    Health,
    Me,
    NoBody,
    Poked,
    Ready,
    ResolveBody,
    Resolved,
    RollbackBody,
    SystemAnswer,
    SystemsQuery,
    TokenAnswer,
    TokenBody,
    TokenMade,
    TreeAnswer,
    TreeNow,
    WhyBody,
)
from saltern.fleet.api.subscription_table import SUBSCRIPTION_ROUTES

ROUTES: tuple[Route, ...] = (
    get("/v1/health", None, status.health, Health),
    get("/v1/ready", None, status.ready, Ready),
    get("/v1/ca", None, status.ca, CaAnswer),
    get("/metrics", "controller.read", status.metrics, None),
    get("/v1/me", "own.read", status.me, Me),
    get("/v1/systems", "systems.read", systems.list_systems, Page[SystemAnswer], query=SystemsQuery),
    get("/v1/systems/{system}", "systems.read", systems.get_system, SystemAnswer),
    get("/v1/systems/{system}/facts", "facts.read", systems.get_facts, FactsAnswer),
    post("/v1/systems/{system}/accept", "systems.decide", keys.accept_system, SystemAnswer, body=AcceptBody),
    post("/v1/systems/{system}/reject", "systems.decide", keys.reject_system, SystemAnswer, body=WhyBody),
    post("/v1/systems/{system}/revoke", "systems.decide", keys.revoke_system, SystemAnswer, body=WhyBody),
    post("/v1/systems/{system}/restore", "systems.decide", keys.restore_system, SystemAnswer, body=NoBody),
    delete("/v1/systems/{system}", "systems.decide", keys.remove_system, None, status=204),
    post("/v1/resolve", "systems.read", keys.resolve, Resolved, body=ResolveBody),
    post("/v1/poke", "systems.read", keys.poke, Poked, body=ResolveBody),
    get("/v1/tokens", "tokens.read", keys.list_tokens, Page[TokenAnswer], query=PageQuery),
    post("/v1/tokens", "tokens.write", keys.make_token, TokenMade, body=TokenBody, status=201),
    delete("/v1/tokens/{token}", "tokens.write", keys.remove_token, None, status=204),
    get("/v1/groups", "groups.read", keys.list_groups, Page[GroupAnswer], query=PageQuery),
    post("/v1/groups", "groups.write", keys.set_group, GroupAnswer, body=GroupBody),
    delete("/v1/groups/{group}", "groups.write", keys.remove_group, None, status=204),
    post(
        "/v1/jobs",
        "jobs.submit",
        submit.submit_job,
        SubmitAnswer,
        query=SubmitQuery,
        body=SubmitBody,
        status=201,
        streams=True,
        knows_tokens=True,
    ),
    post("/v1/jobs/{jid}/cancel", "jobs.cancel", submit.cancel_job, CancelAnswer, body=CancelBody),
    post(
        "/v1/orchestrations",
        "jobs.submit",
        orchestrations.begin_orchestration,
        OrchestrationBegan,
        body=OrchestrationBody,
        status=201,
    ),
    post(
        "/v1/orchestrations/{jid}/end",
        "jobs.submit",
        orchestrations.end_orchestration,
        None,
        body=OrchestrationEnd,
        status=204,
    ),
    get("/v1/jobs", "jobs.read", jobs.list_jobs, Page[JobListed], query=JobsQuery),
    get("/v1/jobs/{jid}", "jobs.read", jobs.get_job, JobAnswer),
    get("/v1/jobs/{jid}/targets", "jobs.read", jobs.list_targets, Page[TargetAnswer], query=TargetsQuery),
    get("/v1/jobs/{jid}/returns", "jobs.read", jobs.list_returns, Page[ReturnAnswer], query=PageQuery),
    get("/v1/jobs/{jid}/returns/{system}", "jobs.read", jobs.get_return, ReturnAnswer),
    get(
        "/v1/jobs/{jid}/records/{system}", "jobs.read", jobs.list_records, Page[RecordAnswer], query=PageQuery
    ),
    get("/v1/events", "events.read", events.events, EventsAnswer, query=EventsQuery, streams=True),
    get("/v1/events/newest", "events.read", events.newest, NewestEvent),
    get("/v1/jobs/{jid}/events", "jobs.read", events.job_events, None, query=FollowQuery, streams=True),
    get("/v1/audit", "audit.read", audit.list_audit, Page[AuditAnswer], query=PageQuery),
    get("/v1/audit/verify", "audit.read", audit.verify_audit, AuditVerified, query=AuditNoted),
    get("/v1/trees", "trees.read", trees.list_trees, Page[TreeAnswer], query=PageQuery),
    get("/v1/trees/{environment}/log", "trees.read", trees.tree_log, Page[TreeAnswer], query=PageQuery),
    get("/v1/trees/{environment}/diff", "trees.read", trees.tree_diff, Page[DiffAnswer], query=DiffQuery),
    post("/v1/trees/publish", "trees.write", trees.publish_tree, TreeNow, body=NoBody),
    post("/v1/trees/{environment}/rollback", "trees.write", trees.rollback_tree, TreeNow, body=RollbackBody),
    post("/v1/trees/{environment}/follow", "trees.write", trees.follow_tree, TreeNow, body=NoBody),
    *LIBRARY_ROUTES,
    *REACTOR_ROUTES,
    *SUBSCRIPTION_ROUTES,
    *ACCESS_ROUTES,
    *CHAIN_ROUTES,
    *RUN_ROUTES,
    *CONSOLE_ROUTES,
)
