"""``schedule``: functions that run at certain times, stored in a file of the configuration.

The file is ``_schedule.conf`` in the directory of included files: ``/etc/saltern/saltern.d``, or
``/etc/salt/minion.d`` where saltern reads Salt's configuration. `saltern agent run` runs the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.schedules import store
from saltern.modules.lib.schedules.jobs import job, plain

UNKNOWN_BUT_FINE = ("state.", "saltutil.")  # what an agent brings


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    function: str | list[str] | None = None,
    seconds: object = None,
    minutes: object = None,
    hours: object = None,
    days: object = None,
    when: object = None,
    cron: str | None = None,
    once: str | None = None,
    once_fmt: str | None = None,
    range: object = None,
    skip_during_range: object = None,
    run_after_skip_range: bool | None = None,
    splay: object = None,
    until: str | list[str] | None = None,
    after: str | list[str] | None = None,
    run_on_start: bool | None = None,
    maxrunning: int | None = None,
    job_args: object = None,
    job_kwargs: dict[str, object] | None = None,
    enabled: bool | None = None,
    jid_include: bool | None = None,
    returner: str | list[str] | None = None,
    return_config: str | None = None,
    return_kwargs: dict[str, object] | None = None,
    return_job: object = None,
    metadata: dict[str, object] | None = None,
    persist: bool = True,
    **_: Ignored,
) -> Result:
    """Make sure that a job is in the schedule exactly as described.

    Args:
        name: the name of the job.
        function: the function to run, such as ``state.apply``.
        seconds, minutes, hours, days: run it each time this much time has passed; they add up.
        when: a time, or a list of times: ``Monday 5:00pm``, ``2027-01-31 17:00``, or a name from ``whens``.
        cron: the times in crontab syntax, such as ``*/5 * * * *``.
        once: run it once, at this time; in the format ``2027-01-31T17:00:00`` unless ``once_fmt`` is given.
        once_fmt: the format of ``once``, for Python's ``strptime``.
        range: run it only from ``start`` to ``end``; with ``invert``, only outside of that range.
        skip_during_range: do not run it from ``start`` to ``end``.
        run_after_skip_range: run it after that range, if it was skipped.
        splay: delay it by up to this many seconds, or by ``start`` to ``end`` seconds.
        until: do not run it after this time.
        after: do not run it before this time.
        run_on_start: run it as soon as the agent starts, too.
        maxrunning: how many runs of it may overlap.
        job_args: a list of arguments for the function.
        job_kwargs: a mapping of further arguments for it.
        enabled: false keeps it without running it.
        jid_include: record each run of it.
        returner: the returner that gets its return.
        return_config: the key of the returner's settings.
        return_kwargs: further settings for it.
        return_job: false discards its return.
        metadata: data to attach to its return.
        persist: keep the job when the agent ends. False is not supported.

    Example:
        ```yaml
        nightly:
          schedule.present:
            - function: state.apply
            - job_args: [backup]
            - cron: 30 2 * * *
            - splay: 600
        ```
    """
    given: dict[str, object] = {
        "function": function,
        "seconds": seconds,
        "minutes": minutes,
        "hours": hours,
        "days": days,
        "when": when,
        "cron": cron,
        "once": once,
        "once_fmt": once_fmt,
        "range": range,
        "skip_during_range": skip_during_range,
        "run_after_skip_range": run_after_skip_range,
        "splay": splay,
        "until": until,
        "after": after,
        "run_on_start": run_on_start,
        "maxrunning": maxrunning,
        "job_args": job_args,
        "job_kwargs": job_kwargs,
        "enabled": enabled,
        "jid_include": jid_include,
        "returner": returner,
        "return_config": return_config,
        "return_kwargs": return_kwargs,
        "return_job": return_job,
        "metadata": metadata,
    }
    if not persist:
        raise Refused("persist: false is not supported: a job is always kept in the file")
    wanted = job(name, {key: value for key, value in given.items() if value is not None}, store.whens(ctx))
    store.check_own(ctx, name)

    def differs() -> Changes:
        have = store.jobs(store.read(ctx)).get(name)
        if have is None:
            return {name: "added"}
        return {} if plain(have) == wanted else {name: {"old": plain(have), "new": wanted}}

    return bring(
        ctx,
        differs,
        lambda _: store.put(ctx, name, wanted),
        facts=lambda: _facts(ctx, name),
        words=Words(
            f"Job {name} in correct state",
            f"Job {name} would be set in schedule",
            f"Job {name} was set in schedule",
        ),
        warnings=_doubts(ctx, wanted),
    )


def _doubts(ctx: Context, wanted: Mapping[str, object]) -> tuple[str, ...]:
    functions = wanted["function"]
    each = functions if isinstance(functions, list) else [functions]
    unknown = [one for one in each if one not in ctx.functions and not str(one).startswith(UNKNOWN_BUT_FINE)]
    return tuple(f"no function is called {one!r} here" for one in unknown)


def _facts(ctx: Context, name: str) -> Changes:
    have = store.jobs(store.read(ctx)).get(name)
    return {"name": name, "exists": have is not None, "job": plain(have or {}), "file": store.path_of(ctx)}


@state(removes=True)
def absent(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Make sure that a job is not in the schedule.

    Args:
        name: the name of the job.

    Example:
        ```yaml
        weekly:
          schedule.absent: []
        ```
    """
    store.check_own(ctx, name)
    return bring(
        ctx,
        lambda: {name: "removed"} if name in store.jobs(store.read(ctx)) else {},
        lambda _: store.put(ctx, name, None),
        facts=lambda: _facts(ctx, name),
        words=Words(
            f"Job {name} not present in schedule",
            f"Job {name} would be removed from schedule",
            f"Job {name} was removed from schedule",
        ),
    )


def _switch(ctx: Context, name: str, *, on: bool) -> Result:
    """Set ``enabled`` of a job, which must exist to be enabled."""
    word = "enabled" if on else "disabled"
    store.check_own(ctx, name)
    if not on and name not in store.jobs(store.read(ctx)):
        comment = f"Job {name} not present in schedule"  # a missing job does not run
        return Result(outcome=Outcome.OK, comment=comment, data=_facts(ctx, name))

    def have() -> dict[str, object]:
        found = store.jobs(store.read(ctx)).get(name)
        if found is None and not ctx.test:  # in test mode an earlier state may bring it
            raise Refused(f"Job {name} not present in schedule")
        return found or {"enabled": not on}

    return bring(
        ctx,
        lambda: {} if bool(have().get("enabled", True)) is on else {name: word},
        lambda _: store.put(ctx, name, {**have(), "enabled": on}),
        facts=lambda: _facts(ctx, name),
        words=Words(f"Job {name} is {word}", f"Job {name} would be {word}", f"Job {name} was {word}"),
    )


@state
def enabled(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Make sure that a job of the schedule is enabled.

    Args:
        name: the name of the job, which must be in the schedule.

    Example:
        ```yaml
        reports:
          schedule.enabled: []
        ```
    """
    return _switch(ctx, name, on=True)


@state
def disabled(ctx: Context, /, name: str, **_: Ignored) -> Result:
    """Make sure that a job of the schedule is disabled, but kept.

    Args:
        name: the name of the job; a job that is not in the schedule counts as disabled.

    Example:
        ```yaml
        weekly:
          schedule.disabled: []
        ```
    """
    return _switch(ctx, name, on=False)
