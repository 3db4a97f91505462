"""How many more systems may begin now: in the run, and in each group of systems."""

from __future__ import annotations

from collections import Counter

from saltern.fleet.chains.model import LegState, RunState


class Room:
    """What is left; ``take`` counts a leg that begins."""

    def __init__(self, run: RunState) -> None:
        busy = [leg for leg in run.legs.values() if leg.is_in_flight]
        most, grouped = run.strategy.max_in_flight, run.strategy.max_unavailable
        self._left = most.at_most(len(run.legs)) - len(busy) if most is not None else len(run.legs)
        self._limit = grouped
        self._sizes = Counter(leg.group for leg in run.legs.values())
        gone = [leg for leg in run.legs.values() if leg.lost]  # given up, and not back
        self._busy = Counter(leg.group for leg in (*busy, *gone))

    def take(self, leg: LegState) -> bool:
        """True, and counted, if the leg may begin."""
        if self._left < 1 or self._is_full(leg.group):
            return False
        self._left -= 1
        self._busy[leg.group] += 1
        return True

    def _is_full(self, group: str) -> bool:
        return self._limit is not None and self._busy[group] >= self._limit.at_most(self._sizes[group])
