"""The schedule of a machine as its agent reads it: Salt's keys, checked, with all times in one form."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from saltern.engine.session import Session
from saltern.fleet.agent.schedule import UNITS, Scheduled
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
    """Print the jobs that are enabled; what cannot be understood is a line on standard error."""
    call = engine.caller.function
    found: list[Scheduled] = []
    if call("schedule.is_enabled", [], {}):
        listed: Any = call("schedule.list", [], {"show_all": True, "return_yaml": False})
        for name, given in listed.items():
            try:
                found += scheduled(name, given) if given.get("enabled", True) else []
            except (Refused, BadArgument, ValueError) as problem:
                print(f"the scheduled job {name!r} is not run: {problem}", file=sys.stderr)
    sys.stdout.write(msgspec.json.encode(found).decode())
    return 0


def scheduled(name: str, given: Mapping[str, Any]) -> list[Scheduled]:
    """One for each function of a job."""
    if unused := [key for key in ("range", "skip_during_range") if key in given]:
        raise ValueError(f"{', '.join(unused)} cannot be followed here yet")
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
        )
        for function in _texts(given.get("function"))
    ]


def _texts(value: object) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _splay(value: Any) -> tuple[float, float]:
    if isinstance(value, Mapping):
        return float(value["start"]), float(value["end"])
    return 0.0, float(value)


def _limit(value: object) -> float:
    found = _moments(_texts(value))[1]
    return found[0] if found else 0.0


def _moments(texts: list[str]) -> tuple[list[str], list[float]]:
    """Times of day and of the week as cron rows, dates as moments."""
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
