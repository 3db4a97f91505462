"""Time, behind a seam: retries, intervals and durations are tested without waiting."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def tick(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    now = staticmethod(time.time)
    tick = staticmethod(time.perf_counter)
    sleep = staticmethod(time.sleep)


class FakeClock:
    """A clock that only sleeps in its own mind."""

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
