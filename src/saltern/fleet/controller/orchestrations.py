"""Orchestrations as jobs: on one system, the controller's machine, as reported by their process."""

from __future__ import annotations

from msgspec import Struct

from saltern.fleet.controller.job_events import end_events, job_new, status_event
from saltern.fleet.protocol.codec import pack_body
from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.store import audit, job_queries
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import newest_event, store_events
from saltern.fleet.store.jobs import Change, NewJob, create_job, set_status, store_returns

FUNCTION = "state.orchestrate"
LONGEST = 7 * 86_400.0  # seconds after which an orchestration that reports no end is given up


class Began(Struct, frozen=True, kw_only=True):
    """A stored orchestration. ``cursor``: its events have higher numbers. ``known``: it was already stored;
    ``cancelled``: and was cancelled."""

    jid: str
    cursor: int
    known: bool = False
    cancelled: bool = False


class Ended(Struct, frozen=True, kw_only=True):
    """How an orchestration ended. ``report``: what its command prints with ``--out json``."""

    status: str
    exit_code: int = 0
    changed: int = 0
    failed: int = 0
    started: float = 0.0
    why: str = ""
    report: object = None


def begin(connection: Connection, job: Job, system: str, now: float) -> Began:
    """Store an orchestration as a job that runs on ``system``."""
    cursor = newest_event(connection)
    row = job_queries.job(connection, job.jid)
    if row is not None:
        return Began(jid=job.jid, cursor=cursor, known=True, cancelled=row.cancelled_at is not None)
    target = ", ".join(map(str, job.args))
    create_job(connection, NewJob(job=job, target=target, systems=(system,), expires=now + LONGEST), now)
    set_status(connection, Change(job.jid, system, "running"), now, reported=True, started=now)
    store_events(connection, [job_new(job, target, (system,), now)])
    detail = {"jid": job.jid, "function": FUNCTION, "target": target, "test": job.test, "rule": job.rule}
    audit.append(connection, job.user, "job.submit", detail, now)
    return Began(jid=job.jid, cursor=cursor)


def end(connection: Connection, jid: str, ended: Ended, now: float) -> None:
    """Store how an orchestration ended."""
    systems = [one.system for one in job_queries.targets(connection, jid)]
    body = pack_body(ended.report)
    returns = [
        Return(
            jid=jid,
            status=ended.status,  # type: ignore[arg-type]
            part=number,
            parts=len(body.parts),
            exit_code=ended.exit_code,
            started=ended.started,
            ended=now,
            changed=ended.changed,
            failed=ended.failed,
            why=ended.why,
            encoding=body.encoding,  # type: ignore[arg-type]
            size=body.size,
            body=part,
        )
        for number, part in enumerate(body.parts)
    ]
    changes = store_returns(connection, [(systems[0], one) for one in returns], now) if systems else []
    events = [status_event(change, now, returns[0]) for change in changes]
    store_events(connection, [*events, *end_events(connection, {change.jid for change in changes}, now)])
