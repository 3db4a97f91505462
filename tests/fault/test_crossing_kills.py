"""Processes of a run, or of a leg, with reboots and an update, killed at random moments, wherever that is.

20 of them here; ``SALTERN_FAULT_KILLS=200`` for all that a release needs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from tests.fault import crossing_leg, crossing_run
from tests.fault.crossing_processes import harass, to_the_end

KILLS = int(os.environ.get("SALTERN_FAULT_KILLS", "20"))
PARTS = 4
pytestmark = pytest.mark.timeout(30 * KILLS)
parts = pytest.mark.parametrize("part", range(PARTS))


def each(part: int) -> range:
    """Half of them are runs, half of them legs."""
    return range(part, KILLS // 2, PARTS)


def survives(part: int, kind: ModuleType, holds: Callable[[Any, int], None]) -> None:
    """``holds`` is asked at the end, and told how often it was killed."""
    usual, _ = kind.voyage()
    for number in each(part):
        chance = random.Random(f"{number} {KILLS}")
        process = chance.randrange(len(usual.points))
        boat = usual.before(process)
        killed = harass(boat, chance, 0.8 * usual.took[process])
        try:
            to_the_end(boat)
            holds(boat, len(killed))
        except AssertionError as problem:
            raise AssertionError(f"process {process}, killed {killed}: {problem}") from None


@parts
def test_a_run_that_is_killed_at_any_moment_loses_nothing_and_repeats_nothing(part: int) -> None:
    survives(part, crossing_run, lambda boat, times: crossing_run.holds(boat, times=times, power=False))


@parts
def test_a_leg_that_is_killed_at_any_moment_loses_nothing_and_repeats_nothing(part: int) -> None:
    survives(part, crossing_leg, lambda boat, _: crossing_leg.holds(boat, power=False))
