"""A rate limit for sending. Pure, except for the clock."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """How many events may be sent now: a token bucket."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._level, self._at = burst, clock()

    def take(self, most: int) -> int:
        now = self._clock()
        self._level = min(self._burst, self._level + max(0.0, now - self._at) * self._rate)
        self._at = now
        taken = min(most, int(self._level))
        self._level -= taken
        return taken

    def wait(self, wanted: int) -> float:
        """Seconds until this many may be sent."""
        return max(0.0, (min(wanted, self._burst) - self._level) / self._rate)
