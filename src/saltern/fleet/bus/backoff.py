"""How long to wait before the next attempt: a random time up to a limit that grows with each attempt.

Full jitter spreads agents that lost the broker at the same moment over the whole time, not around its end.
"""

from __future__ import annotations

from collections.abc import Callable
from random import random

from msgspec import Struct

STEPS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
STABLE = 30.0  # seconds after which a connection counts as good, and the next loss starts from the first step


class Backoff(Struct, frozen=True):
    """``steps`` are upper limits; the last one applies to all further attempts."""

    steps: tuple[float, ...] = STEPS
    stable: float = STABLE

    def delay(self, attempt: int, chance: Callable[[], float] = random) -> float:
        """Seconds before attempt number ``attempt``, counted from 0."""
        return self.steps[min(attempt, len(self.steps) - 1)] * chance()
