"""When a schedule fires: a cron expression, what happens if its last run is not over, and what was missed.

Pure: times are arguments, and the next time is a value that the database keeps. There is no timer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from math import floor
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
Overlap = Literal["skip", "queue", "allow"]
CatchUp = Literal["none", "one", "all"]
MOST_CAUGHT_UP = 24  # runs begun at once, however long a controller was away
GRACE = 300.0  # seconds after its time in which a run is not late


class BadSchedule(ValueError):
    """A text that is not a schedule; the message is for the user."""


class Timing(Struct, frozen=True, kw_only=True):
    """``overlap``: what to do if its last run is not over: skip this one, wait, or run both.
    ``catch_up``: what to do about times that have passed: nothing, one run for all, one for each."""

    cron: str
    zone: str = "UTC"
    overlap: Overlap = "skip"
    catch_up: CatchUp = "one"
    grace: float = GRACE


class Due(Struct, frozen=True, kw_only=True):
    """What to do now: begin runs for the times in ``fires``; ``left_out`` are the other times, with the
    reason. Keep ``next_at``."""

    fires: tuple[float, ...] = ()
    left_out: tuple[float, ...] = ()
    why: str = ""
    next_at: float


def check_timing(timing: Timing) -> None:
    """Raises ``BadSchedule``."""
    try:
        ZoneInfo(timing.zone)
    except (KeyError, ValueError, OSError):
        what = f"no time zone is called {timing.zone!r}; use a name such as Europe/Berlin, or UTC"
        raise BadSchedule(what) from None
    next_fire(timing, 0)


@lru_cache(maxsize=4096)  # a page asks for the times of a week repeatedly
def next_fire(timing: Timing, after: float) -> float:
    """The first time at which the schedule fires after a given time. Raises ``BadSchedule``."""
    from cronsim import CronSim, CronSimError

    expression = SHORT.get(timing.cron.strip(), timing.cron)
    try:
        begin = datetime.fromtimestamp(floor(after), ZoneInfo(timing.zone))
        for found in CronSim(expression, begin):
            if found.timestamp() > after:
                return found.timestamp()
    except CronSimError as problem:
        what = f"{timing.cron!r} is not a cron expression: {problem}; write five fields, such as '30 2 * * *'"
        raise BadSchedule(what) from None
    raise BadSchedule(f"{timing.cron!r} never fires")


def due(timing: Timing, next_at: float, now: float, *, busy: bool) -> Due:
    """What a schedule that was due at ``next_at`` does now; ``busy``: its last run is not over."""
    if now < next_at:
        return Due(next_at=next_at)
    times = tuple(_times(timing, next_at, now))
    following = next_fire(timing, now)
    if busy and timing.overlap == "skip":
        return Due(left_out=times, why="its last run is not over", next_at=following)
    if busy and timing.overlap == "queue":
        return Due(next_at=next_at)  # it stays due, and fires when the last one is over
    return _caught_up(timing, times, now, following)


def _caught_up(timing: Timing, times: tuple[float, ...], now: float, following: float) -> Due:
    """Apply the policy. For times that waited for a run or were missed, the latest stands for all."""
    if timing.catch_up == "all":
        fires, left = times[-MOST_CAUGHT_UP:], times[:-MOST_CAUGHT_UP]
    elif timing.catch_up == "one" or now - times[-1] <= timing.grace:
        fires, left = times[-1:], times[:-1]
    else:
        fires, left = (), times
    return Due(fires=fires, left_out=left, why="the time has passed" if left else "", next_at=following)


def _times(timing: Timing, first: float, now: float) -> Iterator[float]:
    """Every time from the first one until now; of very many, the last ones."""
    if now - first > 400 * 86_400:
        first = next_fire(timing, now - 400 * 86_400)
    at = first
    while at <= now:
        yield at
        at = next_fire(timing, at)
