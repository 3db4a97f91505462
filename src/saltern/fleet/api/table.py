"""``ROUTES``: everything that can be asked of a controller over HTTP.

Routing, checks of what comes in, the policy's actions, OpenAPI and the page docs/reference/api.md are made
from this table.
"""

from __future__ import annotations

from saltern.fleet.api.handlers import audit, events, jobs, status, systems
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.route import Route
from saltern.fleet.api.shapes import (
    AuditAnswer,
    AuditNoted,
    AuditVerified,
    EventsAnswer,
    EventsQuery,
    FactsAnswer,
    Health,
    JobAnswer,
    JobListed,
    JobsQuery,
    Me,
    RecordAnswer,
    ReturnAnswer,
    SystemAnswer,
    SystemsQuery,
    TargetAnswer,
    TargetsQuery,
)

ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/v1/health",
        about="The process answers. For a supervisor or a load balancer.",
        action=None,
        handler=status.health,
        answer=Health,
    ),
    Route(
        method="GET",
        path="/v1/me",
        about="Who the controller takes you for.",
        action="own.read",
        handler=status.me,
        answer=Me,
    ),
    Route(
        method="GET",
        path="/v1/systems",
        about="Systems by id, or those that a target means.",
        action="systems.read",
        handler=systems.list_systems,
        query=SystemsQuery,
        answer=Page[SystemAnswer],
    ),
    Route(
        method="GET",
        path="/v1/systems/{system}",
        about="One system.",
        action="systems.read",
        handler=systems.get_system,
        answer=SystemAnswer,
    ),
    Route(
        method="GET",
        path="/v1/systems/{system}/facts",
        about="The grains of a system.",
        action="facts.read",
        handler=systems.get_facts,
        answer=FactsAnswer,
    ),
    Route(
        method="GET",
        path="/v1/jobs",
        about="Jobs, the newest first.",
        action="jobs.read",
        handler=jobs.list_jobs,
        query=JobsQuery,
        answer=Page[JobListed],
    ),
    Route(
        method="GET",
        path="/v1/jobs/{jid}",
        about="One job, and how many systems have which status.",
        action="jobs.read",
        handler=jobs.get_job,
        answer=JobAnswer,
    ),
    Route(
        method="GET",
        path="/v1/jobs/{jid}/targets",
        about="The systems that a job is meant for, and how far it is there.",
        action="jobs.read",
        handler=jobs.list_targets,
        query=TargetsQuery,
        answer=Page[TargetAnswer],
    ),
    Route(
        method="GET",
        path="/v1/jobs/{jid}/returns",
        about="What the systems returned. A page ends early if the bodies are large.",
        action="jobs.read",
        handler=jobs.list_returns,
        query=PageQuery,
        answer=Page[ReturnAnswer],
    ),
    Route(
        method="GET",
        path="/v1/jobs/{jid}/returns/{system}",
        about="What one system returned.",
        action="jobs.read",
        handler=jobs.get_return,
        answer=ReturnAnswer,
    ),
    Route(
        method="GET",
        path="/v1/jobs/{jid}/records/{system}",
        about="The journal of a job on a system, record by record.",
        action="jobs.read",
        handler=jobs.list_records,
        query=PageQuery,
        answer=Page[RecordAnswer],
    ),
    Route(
        method="GET",
        path="/v1/events",
        about="Events, the oldest first.",
        action="events.read",
        handler=events.list_events,
        query=EventsQuery,
        answer=EventsAnswer,
    ),
    Route(
        method="GET",
        path="/v1/audit",
        about="Who did what, the oldest first.",
        action="audit.read",
        handler=audit.list_audit,
        query=PageQuery,
        answer=Page[AuditAnswer],
    ),
    Route(
        method="GET",
        path="/v1/audit/verify",
        about="Check the chain of the audit.",
        action="audit.read",
        handler=audit.verify_audit,
        query=AuditNoted,
        answer=AuditVerified,
    ),
)
