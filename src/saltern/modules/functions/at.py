"""``at``: the queue of commands that run once, later."""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.tables import at_queue


@function
def atq(ctx: Context, tag: str | None = None) -> dict[str, object]:
    """The jobs that wait, or those with a tag: ``{jobs: […]}``."""
    return {"jobs": [one.asdict() for one in at_queue.queued(ctx) if tag in (None, one.tag)]}


@function
def atrm(ctx: Context, *args: object) -> dict[str, object]:
    """Remove jobs by their numbers, or ``all``."""
    waiting = [one.job for one in at_queue.queued(ctx)]
    chosen = waiting if args == ("all",) else [job for job in waiting if str(job) in map(str, args)]
    if chosen:
        at_queue.remove(ctx, chosen)
    return {"jobs": {"removed": chosen, "tag": None}}


@function
def at(
    ctx: Context, timespec: str, job: str, tag: str | None = None, runas: str | None = None
) -> dict[str, object]:
    """Queue a command."""
    before = {one.job for one in at_queue.queued(ctx)}
    at_queue.submit(ctx, job, timespec, tag=tag or "", user=runas)
    return {"jobs": [one.asdict() for one in at_queue.queued(ctx) if one.job not in before]}


@function
def atc(ctx: Context, jobid: object) -> str:
    """What a job will run."""
    return next((one.script for one in at_queue.queued(ctx) if str(one.job) == str(jobid)), "")
