"""``at``: the queue of commands that run once, later."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.tables import at_queue


@function
def atq(ctx: Context, tag: str | None = None) -> dict[str, object]:
    """The queued jobs, or those with a tag: ``{jobs: […]}``.

    Example:
        ```console
        $ saltern call at.atq reindex
        local:
        …
                  tag:
                      reindex
        …
        ```
    """
    return {"jobs": [one.asdict() for one in at_queue.queued_jobs(ctx) if tag in (None, one.tag)]}


@function
def atrm(ctx: Context, *args: object) -> dict[str, object]:
    """Remove jobs by their numbers, or ``all``.

    Example:
        ```console
        $ saltern call at.atrm 1
        local:
            ----------
            jobs:
                ----------
                removed:
                    - 1
                tag:
                    None
        ```
    """
    waiting = [one.job for one in at_queue.queued_jobs(ctx)]
    chosen = waiting if args == ("all",) else [job for job in waiting if str(job) in map(str, args)]
    if chosen:
        at_queue.remove(ctx, chosen)
    return {"jobs": {"removed": chosen, "tag": None}}


@function
def at(
    ctx: Context, timespec: str, job: str, tag: str | None = None, runas: str | None = None
) -> dict[str, object]:
    """Queue a command.

    Example:
        ```console
        $ saltern call at.at 'now + 1 hour' /usr/local/bin/reindex tag=reindex
        local:
        …
                  tag:
                      reindex
        …
        ```
    """
    before = {one.job for one in at_queue.queued_jobs(ctx)}
    at_queue.submit(ctx, job, timespec, tag=tag or "", user=runas)
    return {"jobs": [one.asdict() for one in at_queue.queued_jobs(ctx) if one.job not in before]}


@function
def atc(ctx: Context, jobid: object) -> str:
    """The script of a job.

    Example:
        ```console
        $ saltern call at.atc 1
        ```
    """
    return next((one.script for one in at_queue.queued_jobs(ctx) if str(one.job) == str(jobid)), "")
