"""The schedule file, and schedules in the configuration and the pillar."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

NAME = "_schedule.conf"
KEY = "schedule"
SETTINGS = frozenset({"enabled", "skip_function", "skip_during_range", "splay"})  # settings for all jobs

Schedule = dict[str, object]


def path_of(ctx: Context) -> str:
    """The schedule file, among the included files of the configuration."""
    main = ctx.settings.files[0] if ctx.settings.files else os.path.join(_usual(), "saltern.yaml")
    given = ctx.settings.extra.get("default_include")
    folder = os.path.dirname(str(given)) if given else f"{os.path.splitext(os.path.basename(main))[0]}.d"
    return os.path.join(os.path.dirname(os.path.abspath(main)), folder, NAME)


def _usual() -> str:
    if os.geteuid() == 0:
        return "/etc/saltern"
    own = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(own, "saltern")


def read(ctx: Context) -> Schedule:
    """The content of the file. Raises ``Refused`` if it is not a schedule."""
    path = path_of(ctx)
    return _section(path) if os.path.exists(path) else {}


def _section(path: str) -> Schedule:
    from saltern.config.files import mapping

    return _check_schedule(mapping(path).get(KEY), path)


def _check_schedule(found: object, where: str) -> Schedule:
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused(f"{where}: {KEY!r} must be a mapping of jobs")
    schedule = {str(name): value for name, value in found.items()}
    wrong = [name for name, one in schedule.items() if name not in SETTINGS and not isinstance(one, Mapping)]
    if wrong:
        raise Refused(f"{where}: the job {wrong[0]!r} must be a mapping")
    return schedule


def jobs(schedule: Schedule) -> dict[str, dict[str, object]]:
    return {
        name: dict(one) for name, one in schedule.items() if name not in SETTINGS and isinstance(one, Mapping)
    }


def configured_schedule(ctx: Context) -> Schedule:
    """The schedule of the other configuration files."""
    own = path_of(ctx)
    found: Schedule = {}
    for file in ctx.settings.files:
        if os.path.abspath(file) != own and os.path.exists(file):
            found |= _section(file)
    return found


def from_pillar(ctx: Context) -> Schedule:
    return _check_schedule(ctx.pillar.get(KEY), "the pillar")


def check_own(ctx: Context, name: str) -> None:
    """Raises ``Refused`` for a job that is defined outside of the schedule file."""
    for schedule, where in (
        (configured_schedule(ctx), "the configuration"),
        (from_pillar(ctx), "the pillar"),
    ):
        if name in jobs(schedule):
            raise Refused(f"job {name} is defined in {where}; change it there")


def whens(ctx: Context) -> frozenset[str]:
    """Named times from pillar and grains, as in Salt."""
    places = (place.get("whens") for place in (ctx.pillar, ctx.grains))
    return frozenset(str(name) for place in places if isinstance(place, Mapping) for name in place)


def write(ctx: Context, schedule: Schedule) -> None:
    """Write the file, readable only by its owner: arguments of jobs may be secrets."""
    from saltern.render.filters.serialize import to_yaml

    path = path_of(ctx)
    ctx.host.makedirs(os.path.dirname(path))
    ctx.host.write(path, str(to_yaml({KEY: schedule}, False)), mode=0o600)


def put(ctx: Context, name: str, job: Mapping[str, object] | None) -> None:
    """Store a job, or remove it."""
    schedule = {known: one for known, one in read(ctx).items() if known != name}
    write(ctx, schedule if job is None else {**schedule, name: dict(job)})
