"""How much one system may send: a token bucket for each. Pure, except for the clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

FORGET = 65_536  # buckets that are kept


class RateLimit:
    """``allow`` is false for a system that has sent more than ``burst``, and more than ``rate`` a second."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, system: str) -> bool:
        now = self._clock()
        level, at = self._buckets.pop(system, (self._burst, now))
        level = min(self._burst, level + max(0.0, now - at) * self._rate)  # a clock may be set back
        allowed = level >= 1
        self._buckets[system] = (level - 1 if allowed else level, now)
        if len(self._buckets) > FORGET:
            del self._buckets[next(iter(self._buckets))]
        return allowed


class Offences:
    """Refusals by reason and system; each pair is reported once in a while."""

    def __init__(self, clock: Callable[[], float], *, quiet: float = 60.0) -> None:
        self.reasons: Counter[str] = Counter()
        self._clock = clock
        self._quiet = quiet
        self._counts: dict[tuple[str, str], tuple[int, float]] = {}

    def count(self, system: str, reason: str, number: int = 1) -> int:
        """Count a refusal; return the number since the last report, if it is time to report again."""
        self.reasons[reason] += number
        held, since = self._counts.pop((system, reason), (0, float("-inf")))
        now = self._clock()
        due = not 0 <= now - since < self._quiet  # a clock may be set back
        self._counts[system, reason] = (0, now) if due else (held + number, since)
        if len(self._counts) > FORGET:
            del self._counts[next(iter(self._counts))]
        return held + number if due else 0
