"""Every open leg has a deadline: it is asked to end then, and counted as expired after the grace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDS, Leg, Run, Wave
from saltern.fleet.chains.events import Send
from saltern.fleet.chains.legs import changed_legs, leg_deadline
from saltern.fleet.chains.model import LegState, RunState


def end_late_legs(run: RunState) -> tuple[RunState, list[Any]]:
    """End what is over its time. A system that was asked to end and does not answer is expired."""
    if run.status is Run.DRAFT or run.status in ENDS:
        return run, []
    every = (_late(run, leg) for leg in run.legs.values() if _is_late(run, leg))
    late = {leg.id: leg for leg in every if leg is not run.legs[leg.id]}
    unasked = [leg for leg in late.values() if leg.is_over and run.legs[leg.id].sent != "cancel"]
    return changed_legs(run, late), [Send(leg=leg.id, number=leg.order, verb="cancel") for leg in unasked]


def _is_late(run: RunState, leg: LegState) -> bool:
    return not leg.is_over and run.now >= leg_deadline(run, leg)


def _late(run: RunState, leg: LegState) -> LegState:
    leg = leg if leg.ending else replace(leg, ending="deadline")
    if leg.sent is None or run.now < leg_deadline(run, leg) + run.strategy.grace:
        return leg
    return replace(leg, status=Leg.EXPIRED, sent="cancel", order=leg.order + (leg.sent != "cancel"))


def next_wakeup(run: RunState) -> float | None:
    """When time alone changes something; None if it never does."""
    return min((moment for moment in _moments(run) if moment > run.now), default=None)


def _moments(run: RunState) -> Iterator[float]:
    for leg in run.legs.values():
        if not leg.is_over:
            yield leg_deadline(run, leg)
            yield leg_deadline(run, leg) + run.strategy.grace
    yield from (wave.soak_until for wave in run.waves if wave.status is Wave.SOAKING)
