"""The machine's own schedule: pure rules from the keys of a Salt schedule.

Scheduled jobs are kept in the spool like other jobs, so they wait their turn; they need no controller.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

UNITS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86_400.0}


class Range(Struct, frozen=True, kw_only=True):
    """A time of every day, in seconds from midnight (``daily``), or a single time. ``invert``: all
    but that.
    """

    start: float
    end: float
    daily: bool = True
    invert: bool = False

    def has(self, now: float, zone: float) -> bool:
        """True if a moment is in it; a range that ends before it starts spans midnight."""
        at = (now + zone) % 86_400 if self.daily else now
        inside = self.start <= at <= self.end
        if self.end < self.start:
            inside = at >= self.start or at <= self.end
        return inside is not self.invert


class Scheduled(Struct, frozen=True, kw_only=True):
    """One job of the schedule, its times in one form: ``every`` seconds, by ``crons``, or ``at`` moments.

    ``returners`` are called with what came of it, and with ``return_options``.
    """

    name: str
    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    every: float = 0.0
    crons: tuple[str, ...] = ()
    at: tuple[float, ...] = ()
    splay: tuple[float, float] = (0.0, 0.0)
    on_start: bool = False
    after: float = 0.0
    until: float = 0.0
    within: Range | None = None
    not_within: Range | None = None
    after_range: bool = False
    most: int = 1
    returns: bool = True
    returners: list[str] = []
    return_options: dict[str, Any] = {}


def next_time(job: Scheduled, *, last: float, now: float, zone: float = 0.0) -> float | None:
    """When the job is due after ``last``; None if never again. Runs that were missed while no agent ran are
    made up once, now, for an interval, and not at all for a time of day.

    ``last``: when it was last begun, or when the schedule was first seen. ``zone``: seconds that local time
    is ahead of UTC.
    """
    times = [max(now, last + job.every)] if job.every else []
    times += [found for cron in job.crons if (found := _by_cron(cron, max(last, now), zone)) is not None]
    times += [moment for moment in job.at if moment > max(last, now - 1)]
    if not times:
        return None
    due = max(min(times), job.after)
    return None if job.until and due > job.until else due


def may_run(job: Scheduled, now: float, zone: float) -> bool:
    """False outside of the range of a job, or in the one that it skips."""
    if job.within is not None and not job.within.has(now, zone):
        return False
    return job.not_within is None or not job.not_within.has(now, zone)


def _by_cron(cron: str, after: float, zone: float) -> float | None:
    from cronsim import CronSim, CronSimError

    try:
        found = next(CronSim(cron, datetime.fromtimestamp(after + zone, UTC).replace(tzinfo=None)))
    except (CronSimError, StopIteration):
        return None
    return found.replace(tzinfo=UTC).timestamp() - zone


def spread(job: Scheduled, chance: float) -> float:
    """Seconds by which a start is delayed, so that not all machines begin at once."""
    low, high = job.splay
    return low + (high - low) * chance
