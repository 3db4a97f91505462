"""The schedule of a machine for its agent: Salt's keys, checked, with all times in one form."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from saltern.engine.session import Session
from saltern.fleet.agent.schedule import UNITS, Range, Scheduled
from saltern.language.returner_names import return_options, returner_names
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.schedules import times
from saltern.modules.lib.schedules.jobs import ONCE_FORMAT

WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def print_schedule(engine: Session) -> int:
    """Print the enabled jobs and the beacons of this machine. Each entry that cannot be understood is
    reported on standard error.
    """
    found = {"jobs": [*_jobs(engine), *_mine(engine)], "beacons": _beacons(engine)}
    sys.stdout.write(msgspec.json.encode(found).decode())
    return 0


def _beacons(engine: Session) -> dict[str, Any]:
    listed: Any = engine.caller.function("beacons.list", [], {"return_yaml": False})
    return dict(listed)


def _mine(engine: Session) -> list[Scheduled]:
    """The job that publishes ``mine_functions``, as in Salt."""
    if not engine.caller.function("mine.valid", [], {}):
        return []
    minutes = engine.pillar.get("mine_interval") or engine.opts.get("mine_interval") or 60
    try:
        every = max(1.0, float(str(minutes))) * 60
    except ValueError:
        every = 3600.0
    name = "__mine_interval"
    return [Scheduled(name=name, function="mine.update", every=every, on_start=True, returns=False)]


def _jobs(engine: Session) -> list[Scheduled]:
    call = engine.caller.function
    found: list[Scheduled] = []
    if call("schedule.is_enabled", [], {}):
        common = _texts(call("config.merge", ["schedule_returner"], {"default": None}))
        listed: Any = call("schedule.list", [], {"show_all": True, "return_yaml": False})
        for name, given in listed.items():
            try:
                found += scheduled_jobs(name, given, common) if given.get("enabled", True) else []
            except (Refused, BadArgument, ValueError) as problem:
                print(f"the scheduled job {name!r} is not run: {problem}", file=sys.stderr)
    return found


def scheduled_jobs(name: str, given: Mapping[str, Any], common: Sequence[str] = ()) -> list[Scheduled]:
    """A scheduled job for each of its functions. ``common``: the returners of all jobs."""
    crons, moments = _moments(_texts(given.get("when")))
    if "cron" in given:
        cron = str(given["cron"]).strip()
        crons.append(WORDS.get(cron, cron))
    if "once" in given:
        form = str(given.get("once_fmt", ONCE_FORMAT))
        once = given["once"]
        moments.append(
            (once if isinstance(once, datetime) else datetime.strptime(str(once), form)).timestamp()
        )
    return [
        Scheduled(
            name=name,
            function=function,
            args=list(given.get("args") or []),
            kwargs=dict(given.get("kwargs") or {}),
            every=sum(float(given[unit]) * size for unit, size in UNITS.items() if unit in given),
            crons=tuple(crons),
            at=tuple(moments),
            splay=_splay(given.get("splay") or 0),
            on_start=bool(given.get("run_on_start")),
            after=_limit(given.get("after")),
            until=_limit(given.get("until")),
            within=_range(given.get("range")),
            not_within=_range(given.get("skip_during_range")),
            after_range=bool(given.get("run_after_skip_range")),
            most=max(1, int(given.get("maxrunning") or 1)),
            returns=given.get("return_job") is not False,
            returners=returner_names([*_texts(given.get("returner")), *common]),
            return_options=_return_options(name, given),
        )
        for function in _texts(given.get("function"))
    ]


def _return_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What returners find beside the return of a scheduled job, as in Salt."""
    metadata = given.get("metadata")
    return {
        "schedule": name,
        **({"metadata": metadata} if isinstance(metadata, Mapping) else {}),
        **return_options(given.get("return_config"), given.get("return_kwargs")),
    }


def _texts(value: object) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _splay(value: Any) -> tuple[float, float]:
    if isinstance(value, Mapping):
        return float(value["start"]), float(value["end"])
    return 0.0, float(value)


def _range(value: object) -> Range | None:
    """``{start: 8:00am, end: 5:00pm}``: of every day, or with dates, once."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not {"start", "end"} <= value.keys():
        raise ValueError("a range has a start and an end")
    ends = [str(value[key]) for key in ("start", "end")]
    invert = bool(value.get("invert"))
    if any(_date(text) is not None for text in ends):
        start, end = (_limit(text) for text in ends)
        return Range(start=start, end=end, daily=False, invert=invert)
    for text in ends:
        times.moment(text, "range")
    clocks = [_clock(times.CLOCK.search(text)) for text in ends]
    start, end = (float(hour * 3600 + minute * 60 + second) for hour, minute, second in clocks)
    return Range(start=start, end=end, invert=invert)


def _limit(value: object) -> float:
    found = _moments(_texts(value))[1]
    return found[0] if found else 0.0


def _moments(texts: list[str]) -> tuple[list[str], list[float]]:
    """Times of day and of the week as cron rows, dates as timestamps."""
    crons, moments = [], []
    for text in texts:
        times.moment(text, "when")
        clock = times.CLOCK.search(_without_date(text))
        hour, minute, second = _clock(clock)
        if (date := _date(text)) is not None:
            moments.append(time.mktime((*date, hour, minute, second, 0, 0, -1)))
        else:
            day = times.WEEKDAY.search(text)
            weekday = times.DAYS.index(day[0][:3].lower()) if day else "*"
            crons.append(f"{minute} {hour} * * {weekday}")
    return crons, moments


def _clock(found: Any) -> tuple[int, int, int]:
    if found is None or not (found[2] or found[4]):
        return 0, 0, 0
    hour, minute, second = (int(found[part] or 0) for part in (1, 2, 3))
    if found[4]:
        hour = hour % 12 + (12 if found[4].lower() == "pm" else 0)
    return hour, minute, second


def _without_date(text: str) -> str:
    for pattern in (*times.DATES, times.NAMED_MONTH):
        text = pattern.sub(" ", text, count=1)
    return text


def _date(text: str) -> tuple[int, int, int] | None:
    for pattern in times.DATES:
        if found := pattern.search(text):
            return int(found["year"]), int(found["month"]), int(found["day"])
    if found := times.NAMED_MONTH.search(text):
        month = times.MONTHS.index(found[2].lower()) + 1
        year = int(found[4] or time.localtime().tm_year)
        return year, month, int(found[1] or found[3] or 1)
    return None
