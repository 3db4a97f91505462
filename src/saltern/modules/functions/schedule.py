"""``schedule``: functions that run at certain times, stored in a file of the configuration.

The file is ``_schedule.conf`` in the directory of included files: ``/etc/saltern/saltern.d``, or
``/etc/salt/minion.d`` where saltern reads Salt's configuration. `saltern agent run` runs the jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.schedules import store
from saltern.modules.lib.schedules.jobs import job, plain

Reply = dict[str, object]

# Arguments that are not part of the job.
AROUND = frozenset({"test", "persist", "offline"})
PLACES: Mapping[str, tuple[Callable[[Context], store.Schedule], ...]] = {
    "pillar": (store.from_pillar,),
    "opts": (store.configured_schedule, store.read),
    "": (store.from_pillar, store.configured_schedule, store.read),
}


def _answer(comment: str, changes: Mapping[str, object] | None = None, *, fine: bool = True) -> Reply:
    return {"comment": comment, "changes": dict(changes or {}), "result": fine}


def _wanted_job(ctx: Context, name: str, given: Mapping[str, object]) -> dict[str, object]:
    of_job = {key: value for key, value in given.items() if key not in AROUND and not key.startswith("__")}
    return job(name, of_job, store.whens(ctx))


def _known_schedule(ctx: Context, place: str = "") -> store.Schedule:
    """The schedule from all places; the schedule file overrides the others."""
    found: store.Schedule = {}
    for read in PLACES[place]:
        found |= read(ctx)
    return found


@function(name="list")
def list_jobs(
    ctx: Context,
    show_all: bool = False,
    show_disabled: bool = True,
    where: str | None = None,
    return_yaml: bool = True,
    offline: bool = True,  # noqa: ARG001 - it is always the files that are read
) -> object:
    """The jobs of the schedule, as YAML.

    Args:
        show_all: include jobs whose names begin with ``__``.
        show_disabled: include disabled jobs.
        where: ``pillar`` or ``opts``: only jobs from there.
        return_yaml: false returns data.
        offline: not used; the files are always read.

    Example:
        ```console
        $ saltern call schedule.list return_yaml=false
        ```
    """
    if (where or "") not in PLACES:
        raise BadArgument(f"where cannot be {where!r}; it must be 'pillar' or 'opts'")
    chosen = {
        name: plain(one)
        for name, one in store.jobs(_known_schedule(ctx, where or "")).items()
        if (show_all or not name.startswith("__")) and (show_disabled or one.get("enabled", True))
    }
    if not return_yaml:
        return chosen
    from saltern.render.filters.serialize import to_yaml

    return str(to_yaml({store.KEY: chosen}, False)) if chosen else {store.KEY: {}}


@function
def is_enabled(ctx: Context, name: str | None = None) -> object:
    """True if the schedule is enabled; with a name, the job if it is enabled, or an empty mapping.

    Args:
        name: the name of the job.

    Example:
        ```console
        $ saltern call schedule.is_enabled
        local:
            True
        ```
    """
    known = _known_schedule(ctx)
    if not name:
        return known.get("enabled", True) is not False
    found = store.jobs(known).get(name, {})
    return plain(found) if found.get("enabled", True) else {}


@function
def build_schedule_item(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """A job in the form of the schedule file; nothing is changed.

    Args:
        name: the name of the job.
        **kwargs: the arguments of the state ``schedule.present``.

    Example:
        ```console
        $ saltern call schedule.build_schedule_item nightly function=test.ping hours=6
        ```
    """
    try:
        return _wanted_job(ctx, name, kwargs)
    except BadArgument as problem:
        return {"comment": str(problem), "result": False}


@function
def add(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Add a job to the schedule.

    Args:
        name: the name of the job.
        **kwargs: the arguments of the state ``schedule.present``; ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.add hourly function=test.ping hours=1
        ```
    """

    def change() -> Reply:
        if name in store.jobs(_known_schedule(ctx)):
            return _answer(f"Job {name} already exists in schedule.", fine=False)
        wanted = _wanted_job(ctx, name, kwargs)
        if kwargs.get("test"):
            return _answer(f"Job: {name} would be added to schedule.")
        store.put(ctx, name, wanted)
        return _answer(f"Added job: {name} to schedule.", {name: "added"})

    return _or_problem(change)


def _or_problem(change: Callable[[], Reply]) -> Reply:
    """Make a change, and return problems in the comment, as Salt does."""
    try:
        return change()
    except BadArgument as problem:
        return _answer(str(problem), fine=False)


def _own(ctx: Context, name: str) -> dict[str, object]:
    """A job of the file. Raises ``Refused`` if it does not exist."""
    found = store.jobs(store.read(ctx)).get(name)
    if found is None:
        store.check_own(ctx, name)
        raise Refused(f"Job {name} does not exist.")
    return found


@function
def modify(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Replace a job of the schedule; its function stays if none is given.

    Args:
        name: the name of the job.
        **kwargs: the arguments of the state ``schedule.present``; ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.modify weekly function=test.ping days=7
        ```
    """

    def change() -> Reply:
        old = plain(_own(ctx, name))
        new = _wanted_job(ctx, name, {"function": old.get("function"), **kwargs})
        if old == new:
            return _answer(f"Job {name} in correct state")
        changes = {name: {"old": old, "new": new}}
        if kwargs.get("test"):
            return _answer(f"Job: {name} would be modified in schedule.", changes)
        store.put(ctx, name, new)
        return _answer(f"Modified job: {name} in schedule.", changes)

    return _or_problem(change)


@function
def delete(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Remove a job from the schedule.

    Args:
        name: the name of the job.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.delete weekly
        ```
    """

    def change() -> Reply:
        _own(ctx, name)
        if kwargs.get("test"):
            return _answer(f"Job: {name} would be deleted from schedule.")
        store.put(ctx, name, None)
        return _answer(f"Deleted Job {name} from schedule.", {name: "removed"})

    return _or_problem(change)


@function
def purge(ctx: Context, /, **kwargs: object) -> Reply:
    """Remove every job of the file from the schedule.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.purge
        ```
    """
    schedule = store.read(ctx)
    names = list(store.jobs(schedule))
    if kwargs.get("test"):
        return _answer("\n".join(f"Job: {name} would be deleted from schedule." for name in names))
    if names:
        store.write(ctx, {name: one for name, one in schedule.items() if name not in names})
    comment = "\n".join(f"Deleted job: {name} from schedule." for name in names)
    return _answer(comment, dict.fromkeys(names, "removed"))


def _switch_job(ctx: Context, name: str, *, on: bool, test: object) -> Reply:
    word = "enabled" if on else "disabled"

    def change() -> Reply:
        have = _own(ctx, name)
        if bool(have.get("enabled", True)) is on:
            return _answer(f"Job {name} is already {word}.")
        if test:
            return _answer(f"Job: {name} would be {word} in schedule.", {name: word})
        store.put(ctx, name, {**have, "enabled": on})
        return _answer(f"{word.capitalize()} Job {name} in schedule.", {name: word})

    return _or_problem(change)


@function
def enable_job(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Enable a job.

    Args:
        name: the name of the job.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.enable_job weekly
        ```
    """
    return _switch_job(ctx, name, on=True, test=kwargs.get("test"))


@function
def disable_job(ctx: Context, /, name: str, **kwargs: object) -> Reply:
    """Disable a job, but keep it.

    Args:
        name: the name of the job.
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.disable_job weekly
        ```
    """
    return _switch_job(ctx, name, on=False, test=kwargs.get("test"))


def _switch(ctx: Context, *, on: bool, test: object) -> Reply:
    word = "enabled" if on else "disabled"
    schedule = store.read(ctx)
    if (schedule.get("enabled", True) is not False) is on:
        return _answer(f"Schedule is already {word}.")
    if test:
        return _answer(f"Schedule would be {word}.", {"schedule": word})
    store.write(ctx, {**schedule, "enabled": on})
    return _answer(f"{word.capitalize()} schedule on minion.", {"schedule": word})


@function
def enable(ctx: Context, /, **kwargs: object) -> Reply:
    """Enable the schedule.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.enable
        ```
    """
    return _switch(ctx, on=True, test=kwargs.get("test"))


@function
def disable(ctx: Context, /, **kwargs: object) -> Reply:
    """Disable the schedule.

    Args:
        **kwargs: ``test`` to change nothing.

    Example:
        ```console
        $ saltern call schedule.disable
        ```
    """
    return _switch(ctx, on=False, test=kwargs.get("test"))


@function
def save(ctx: Context, /, **kwargs: object) -> Reply:
    """Check the schedule file. There is nothing to save: each change is in the file at once.

    Args:
        **kwargs: ``test`` changes nothing, as this does.

    Example:
        ```console
        $ saltern call schedule.save
        ```
    """
    if kwargs.get("test"):
        return {"comment": "Schedule would be saved.", "result": True}
    return {key: value for key, value in _or_problem(lambda: _check_jobs(ctx)).items() if key != "changes"}


def _check_jobs(ctx: Context) -> Reply:
    for name, one in store.jobs(store.read(ctx)).items():
        _wanted_job(ctx, name, plain(one))
    return _answer("Schedule (non-pillar items) saved.")


@function(name="reload")
def reload_schedule(ctx: Context) -> Reply:
    """Read the schedule again, and check every job of it.

    Example:
        ```console
        $ saltern call schedule.reload
        ```
    """
    found = _or_problem(lambda: _check_jobs(ctx))
    comment = "Reloaded schedule from configuration." if found["result"] else found["comment"]
    return {"comment": [comment], "result": found["result"]}
