"""Legs that are retried without an operator, and legs that do not fit into their window."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDS, Leg, Run, Step
from saltern.fleet.chains.events import Note
from saltern.fleet.chains.legs import changed_legs
from saltern.fleet.chains.model import LegState, RunState
from saltern.fleet.chains.reach import unfit_step

DOWN = frozenset({Leg.REBOOTING, Leg.UPDATING})


def retry_legs(run: RunState) -> tuple[RunState, list[Any]]:
    """Start legs again whose end the strategy retries, up to its limit, with growing pauses."""
    rule = run.strategy.retry
    if rule is None or run.status not in (Run.RUNNING, Run.PAUSED):
        return run, []
    found = {leg.id: _again(run, leg) for leg in run.legs.values() if _is_retried(run, leg)}
    notes = [
        Note(
            about=leg.id,
            before=run.legs[leg.id].status.value,
            after=leg.status.value,
            why=f"retry {leg.tries} of {rule.times}",
        )
        for leg in found.values()
    ]
    return changed_legs(run, found), notes


def _is_retried(run: RunState, leg: LegState) -> bool:
    rule = run.strategy.retry
    if rule is None or not leg.is_over or leg.ending or leg.quarantined or leg.lost:
        return False
    return leg.tries < rule.times and how_ended(leg) in rule.on


def how_ended(leg: LegState) -> str:
    """The class of an end; a leg is unreachable if it never began because its system was not reached."""
    if leg.status is Leg.INDETERMINATE:
        return "indeterminate"
    if leg.status in (Leg.FAILED, Leg.EXPIRED) and all(one.status is Step.NOT_RUN for one in leg.steps):
        return "unreachable"
    if leg.status is Leg.FAILED:
        return "timed out" if any(one.status is Step.TIMED_OUT for one in leg.steps) else "failed"
    return ""


def _again(run: RunState, leg: LegState) -> LegState:
    rule = run.strategy.retry
    assert rule is not None
    later = run.now + rule.wait * rule.backoff**leg.tries
    begun = replace(leg, status=Leg.PENDING, sent=None, until="", answered=leg.seq, away=False, back_by=0)
    why = f"retry {leg.tries + 1} of {rule.times}, since it has {leg.status.value}"
    return replace(
        begun, again="retry", again_from=leg.status, tries=leg.tries + 1, not_before=later, waits_for=why
    )


def note_unfit(run: RunState) -> tuple[RunState, list[Any]]:
    """Mark the legs whose window is too short for their next step. Depending on the strategy, those that have
    begun wait for the next window, or end."""
    if run.status is Run.DRAFT or run.status in ENDS:
        return run, []
    open_legs = [leg for leg in run.legs.values() if not leg.is_over and leg.window_until]
    noted = {
        leg.id: replace(leg, unfit=why) for leg in open_legs if (why := unfit_step(run, leg)) != leg.unfit
    }
    run = changed_legs(run, noted)
    if run.strategy.outside_window != "fail":
        return run, []
    out = [leg for leg in run.legs.values() if _is_out(leg)]
    return changed_legs(run, {leg.id: _end_leg(leg) for leg in out}), []


def _is_out(leg: LegState) -> bool:
    shut = bool(leg.shut or leg.unfit) and leg.sent is not None
    return shut and not leg.is_over and not leg.ending and leg.status not in DOWN


def _end_leg(leg: LegState) -> LegState:
    return replace(leg, ending="window", waits_for=f"its window: {leg.shut or leg.unfit}")
