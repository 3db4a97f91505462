"""Every open leg has a deadline: then it is asked to end, and after the grace period it counts as expired.
A system that went down has its own deadline to be back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDS, Leg, Run, Wave
from saltern.fleet.chains.events import Send
from saltern.fleet.chains.legs import changed_legs, leg_deadline
from saltern.fleet.chains.model import LegState, RunState


def end_late_legs(run: RunState) -> tuple[RunState, list[Any]]:
    """End legs past their deadline. A leg that was asked to end and whose system does not answer is
    expired.
    """
    if run.status is Run.DRAFT or run.status in ENDS:
        return run, []
    every = (_late(run, leg) for leg in run.legs.values() if _is_late(run, leg))
    late = {leg.id: leg for leg in every if leg is not run.legs[leg.id]}
    unasked = [leg for leg in late.values() if leg.is_over and run.legs[leg.id].sent != "cancel"]
    return changed_legs(run, late), [Send(leg=leg.id, number=leg.order, verb="cancel") for leg in unasked]


def end_lost_legs(run: RunState) -> tuple[RunState, list[Any]]:
    """Expire legs whose system is not back in time; a late result still corrects that. After the deadline the
    leg is asked to end, so that it does nothing a week later."""
    missing = {leg.id: _mark_missing(run, leg) for leg in run.legs.values() if _is_missing(run, leg)}
    run = changed_legs(run, missing)
    late = [leg for leg in run.legs.values() if leg.lost and run.now >= leg_deadline(run, leg)]
    ended = [replace(leg, lost=False, sent="cancel", order=leg.order + 1) for leg in late]
    orders = [Send(leg=leg.id, number=leg.order, verb="cancel") for leg in ended]
    return changed_legs(run, {leg.id: leg for leg in ended}), orders


def _is_missing(run: RunState, leg: LegState) -> bool:
    return leg.away and not leg.is_over and 0 < leg.back_by <= run.now


def _mark_missing(run: RunState, leg: LegState) -> LegState:
    seconds = round(run.now - leg.away_since)
    away = f"{seconds} seconds" if seconds < 120 else f"{seconds // 60} minutes"
    why = f"it did not come back: it has been away for {away}"
    return replace(leg, status=Leg.EXPIRED, lost=True, waits_for=why)


def _is_late(run: RunState, leg: LegState) -> bool:
    return not leg.is_over and run.now >= leg_deadline(run, leg)


def _late(run: RunState, leg: LegState) -> LegState:
    leg = leg if leg.ending else replace(leg, ending="deadline")
    if leg.sent is None or run.now < leg_deadline(run, leg) + run.strategy.grace:
        return leg
    return replace(leg, status=Leg.EXPIRED, sent="cancel", order=leg.order + (leg.sent != "cancel"))


def next_wakeup(run: RunState) -> float | None:
    """The next time at which something changes by time alone; None if never."""
    return min((moment for moment in _moments(run) if moment > run.now), default=None)


def _moments(run: RunState) -> Iterator[float]:
    for leg in run.legs.values():
        if not leg.is_over or leg.lost:
            yield leg_deadline(run, leg)
        if not leg.is_over:
            yield leg_deadline(run, leg) + run.strategy.grace
            yield leg.back_by
            yield leg.not_before
            yield from _window_moments(leg)
    yield from (wave.soak_until for wave in run.waves if wave.status is Wave.SOAKING)


def _window_moments(leg: LegState) -> Iterator[float]:
    """The times from which a later step no longer fits into the window."""
    if leg.window_until:
        yield from (leg.window_until - step.expected for step in leg.plan if not step.final)
