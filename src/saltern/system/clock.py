"""Time, behind a seam: retries, intervals and durations are tested without waiting."""

from __future__ import annotations

import time
from time import CLOCK_REALTIME, clock_gettime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # importing the real one costs as much as a module

EARLIEST = 0.0
SOON = 1e-6  # after 1970: a moment of 0 would be read as none
LATEST = 253_402_128_000.0  # the year 9999, less two days: its last hours are in another year in other zones


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""

    def tick(self) -> float:
        """Seconds since some fixed moment; never decreases."""

    def sleep(self, seconds: float) -> None: ...


def now() -> float:
    """Seconds since the epoch, in the years 1970 to 9999, even if the clock of the machine is outside of
    them.

    Not ``time.time``: that raises in the year 2262 and later.
    """
    seconds = clock_gettime(CLOCK_REALTIME)
    return seconds if EARLIEST < seconds < LATEST else clamp_moment(seconds) or SOON


def help_python() -> None:
    """If the clock is beyond the range of ``time.time``, replace that function for its callers, such as
    logging.
    """
    try:
        time.time()
    except OverflowError:
        time.time = now
        time.time_ns = lambda: int(now() * 1_000_000_000)


def clamp_moment(seconds: float) -> float:
    """The moment, limited to those that have a date; the first of them if it is not a number."""
    if EARLIEST <= seconds <= LATEST:
        return seconds
    return LATEST if seconds > LATEST else EARLIEST


def stamp(seconds: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """The date of any number, in UTC: foreign files may have values that no clock has."""
    return time.strftime(form, time.gmtime(clamp_moment(seconds)))


class SystemClock:
    now = staticmethod(now)
    tick = staticmethod(time.perf_counter)
    sleep = staticmethod(time.sleep)


class FakeClock:
    """A clock whose ``sleep`` only advances its time."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    def tick(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds
