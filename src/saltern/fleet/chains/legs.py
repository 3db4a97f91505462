"""Small queries about the legs of a run, and a run with some of its legs replaced."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.chains.statuses import Leg
from saltern.fleet.chains.model import LegState, RunState

FAILURES = frozenset({Leg.FAILED, Leg.INDETERMINATE})


def changed_legs(run: RunState, legs: Mapping[str, LegState]) -> RunState:
    """The run with these legs; the same run if there are none."""
    return replace(run, legs={**run.legs, **legs}) if legs else run


def is_failed(run: RunState, leg: LegState) -> bool:
    """True if a leg counts for ``max_failures``. The result of a system that is away is unknown: it counts
    only if the strategy says so, even past its deadline. One that went down for the run and is not back
    counts.
    """
    if leg.back_by and leg.status is Leg.EXPIRED:
        return True
    if leg.away and not (leg.is_over and leg.status is not Leg.EXPIRED):
        return run.strategy.count_away
    return leg.status in FAILURES or (leg.status is Leg.EXPIRED and leg.sent is not None)


def leg_deadline(run: RunState, leg: LegState) -> float:
    """The deadline of the leg: that of the run, or its own time after it was sent."""
    own = run.strategy.leg_time
    return run.deadline if own is None or leg.sent is None else min(run.deadline, leg.begun + own)
