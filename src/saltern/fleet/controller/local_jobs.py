"""Jobs that a system started by its own schedule: the controller learns of them from their returns."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.fleet.controller.job_events import job_new
from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent
from saltern.fleet.store.job_queries import job
from saltern.fleet.store.jobs import NewJob, create_job

BY = "schedule:"
LATE = 60.0  # seconds in which the other parts of a return come


def begin_local_jobs(
    connection: Connection, returns: Sequence[tuple[str, Return]], now: float
) -> list[NewEvent]:
    """Store the jobs of returns that name their schedule, with their events. A known number is left alone: a
    system cannot return the job of another one.
    """
    events: list[NewEvent] = []
    for system, one in returns:
        if not one.function or not one.by.startswith(BY) or job(connection, one.jid) is not None:
            continue
        made = Job(jid=one.jid, function=one.function, user=f"{one.by} on {system}"[:255], changing=False)
        new = NewJob(job=made, target=f"L@{system}", systems=(system,), expires=now + LATE)
        create_job(connection, new, now)
        events.append(job_new(made, new.target, new.systems, now))
    return events
