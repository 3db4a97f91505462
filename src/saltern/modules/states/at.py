"""``at``: commands that run once, later."""

from __future__ import annotations

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import call_bound
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import at_queue
from saltern.modules.lib.tables.at_queue import Queued


@state
def present(
    ctx: Context,
    name: str,
    *,
    timespec: str,
    tag: str | None = None,
    user: str | None = None,
    job: str | None = None,
    unique_tag: bool = False,
) -> Result:
    """Make sure that a command is in the queue of ``at``. Once it has run, it is queued again.

    Args:
        name: the command.
        timespec: when it runs, in the syntax of ``at``: ``now + 1 hour``, ``09:30 tomorrow``.
        tag: a word to find the job by.
        user: the user to run it as.
        job: the command, if ``name`` is only a title.
        unique_tag: any job with this tag counts, whatever its command.

    Example:
        ```yaml
        /usr/local/bin/reindex:
          at.present:
            - timespec: now + 1 hour
            - tag: reindex
        ```
    """
    text = job or name
    if unique_tag and not tag:
        raise Refused("unique_tag needs a tag")
    one_line(tag or "", "tag")

    def find() -> Queued | None:
        return next(
            (one for one in at_queue.queued_jobs(ctx) if _matches(one, text, tag or "", unique_tag)), None
        )

    return bring(
        ctx,
        lambda: {} if find() else {"job": text, "timespec": timespec, "tag": tag or ""},
        lambda _: at_queue.submit(ctx, text, timespec, tag=tag or "", user=user),
        facts=lambda: {"name": name, "queued": [one.asdict() for one in filter(None, [find()])]},
        words=Words(f"job {name} is queued", f"job {name} would be queued", f"job {name} was queued"),
    )


def _matches(one: Queued, text: str, tag: str, unique_tag: bool) -> bool:
    return one.tag == tag and (unique_tag or text.strip() in one.script)


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    jobid: int | None = None,
    tag: str | None = None,
    runas: str | None = None,
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
    hour: int | None = None,
    minute: int | None = None,
) -> Result:
    """Remove jobs from the queue of ``at``.

    Args:
        name: a title; ``all`` without other arguments removes all jobs.
        jobid: the number of the job.
        tag: jobs with this tag.
        runas: jobs of this user.
        year, month, day, hour, minute: jobs that run at this time; a year has two digits or four.

    Example:
        ```yaml
        no-reindex:
          at.absent:
            - tag: reindex
        ```
    """
    times = (year if year is None else year % 100, month, day, hour, minute)
    if (jobid, tag, runas, *times) == (None,) * 8 and name != "all":
        raise Refused("give jobid, tag or runas, or the name 'all'")

    def find() -> list[int]:
        return [
            one.job
            for one in at_queue.queued_jobs(ctx)
            if jobid in (None, one.job) and tag in (None, one.tag) and runas in (None, one.user)
            if all(want in (None, have) for want, have in zip(times, one.times, strict=True))
        ]

    return bring(
        ctx,
        lambda: {"removed": jobs} if (jobs := find()) else {},
        lambda _: at_queue.remove(ctx, find()),
        facts=lambda: {"name": name, "queued": find()},
        words=Words("No such job is queued", "Jobs would be removed", "Jobs were removed"),
    )


@state
def watch(
    ctx: Context,  # noqa: ARG001
    name: str,
    *,
    timespec: str,  # noqa: ARG001
    tag: str | None = None,  # noqa: ARG001
    user: str | None = None,  # noqa: ARG001
    job: str | None = None,  # noqa: ARG001
    unique_tag: bool = False,  # noqa: ARG001
) -> Result:
    """Queue a command when a watched state has changed. Takes the arguments of ``present``.

    Args:
        name: the command.
        timespec, tag, user, job, unique_tag: as in ``present``.

    Example:
        ```yaml
        /etc/index.conf:
          file.managed:
            - contents: 'depth = 3'

        /usr/local/bin/reindex:
          at.watch:
            - timespec: now + 5 minutes
            - watch:
              - file: /etc/index.conf
        ```
    """
    return Result(outcome=Outcome.OK, comment="Nothing watched has changed", data={"name": name})


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "watch", **kwargs: object) -> Result:
    """The reaction of ``at.watch`` to a change in a watched state: it queues its command.

    Example:
        ```yaml
        /etc/index.conf:
          file.managed:
            - contents: 'depth = 3'

        /usr/local/bin/reindex:
          at.watch:
            - timespec: noon
            - watch:
              - file: /etc/index.conf
        ```
    """
    if sfun not in ("watch", "present"):
        raise Refused(f"at.{sfun} cannot react to a watch; use at.watch")
    return call_bound(present.body, ctx, name, kwargs)
