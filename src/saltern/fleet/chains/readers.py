"""What an event says about a run, one function for each kind; what follows from it is decided elsewhere.

A reader that gives back the run it was given has learned nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDS, MOVES, OVER, Leg, Run, Status
from saltern.fleet.chains import events
from saltern.fleet.chains.continuation import judged, with_blockers
from saltern.fleet.chains.events import Command, Note, Send
from saltern.fleet.chains.legs import changed_legs, is_failed
from saltern.fleet.chains.model import LegState, RunState

Read = tuple[RunState, tuple[Command, ...]]


def _begin(run: RunState, _event: events.Begin) -> Read:
    known = run.status is Run.SCHEDULED
    return (replace(run, status=Run.RUNNING) if known else run), ()


def _tick(run: RunState, _event: events.Tick) -> Read:
    return run, ()


# -- systems ------------------------------------------------------------------------------------------


def _reported(run: RunState, event: events.Reported) -> Read:
    """Newer reports replace older ones. One that comes after the deadline corrects."""
    leg = run.legs.get(event.leg)
    if leg is None or leg.sent is None or event.seq <= leg.seq or len(event.steps) != len(leg.plan):
        return run, ()
    status = _seen_status(leg, event)
    steps = with_blockers(leg.plan, event.steps)
    after = replace(leg, seq=event.seq, status=status, steps=steps, away=False)
    corrects = leg.is_over and status is not leg.status
    return changed_legs(run, {leg.id: after}), (_correction(leg, after),) if corrects else ()


def _seen_status(leg: LegState, event: events.Reported) -> Leg:
    """A leg that ends because its time is over has expired, however its system calls that."""
    status = judged(event.status, event.steps)
    if status is Leg.CANCELLED and leg.ending == "deadline":
        status = Leg.EXPIRED
    if leg.status is Leg.EXPIRED and status not in OVER:
        return leg.status
    return status if status in _reachable(leg.status) else leg.status


def _reachable(status: Leg) -> set[Status]:
    """Every status that a leg may have by now: reports in between may have been lost."""
    seen: set[Status] = {status}
    left: list[Status] = [status]
    while left:
        new = MOVES[left.pop()] - seen
        seen |= new
        left += new
    return seen


def _correction(before: LegState, after: LegState) -> Note:
    why = "a result came late" if after.is_over else "it was taken up again on its system"
    return Note(about=before.id, before=before.status.value, after=after.status.value, why=why)


def _presence(*, away: bool) -> Callable[[RunState, Any], Read]:
    def read(run: RunState, event: events.Away | events.Back) -> Read:
        leg = run.legs.get(event.leg)
        if leg is None or leg.sent is None or leg.away is away:
            return run, ()
        return changed_legs(run, {leg.id: replace(leg, away=away)}), ()

    return read


# -- operators ----------------------------------------------------------------------------------------


def _open_legs(run: RunState, names: Sequence[str]) -> list[LegState]:
    return [leg for name in names if (leg := run.legs.get(name)) is not None and not leg.is_over]


def _pause(run: RunState, event: events.Pause) -> Read:
    if event.legs:
        legs = {leg.id: replace(leg, held=True) for leg in _open_legs(run, event.legs) if not leg.held}
        return changed_legs(run, legs), ()
    return (replace(run, status=Run.PAUSED) if run.status is Run.RUNNING else run), ()


def _resume(run: RunState, event: events.Resume) -> Read:
    if event.legs:
        legs = {leg.id: replace(leg, held=False) for leg in _open_legs(run, event.legs) if leg.held}
        return changed_legs(run, legs), ()
    if run.status is not Run.PAUSED and not (run.status is Run.HALTED and event.despite_failures):
        return run, ()
    failed = frozenset(leg.id for leg in run.legs.values() if is_failed(run, leg))
    excused = run.excused | failed if event.despite_failures else run.excused
    return replace(run, status=Run.RUNNING, halted="", excused=excused), ()


def _cancel(run: RunState, event: events.Cancel) -> Read:
    if run.status in ENDS:
        return run, ()
    names = event.legs or tuple(run.legs)
    legs = {leg.id: replace(leg, ending="operator") for leg in _open_legs(run, names) if not leg.ending}
    after = changed_legs(run, legs)
    if event.legs or run.cancelled:
        return after, ()
    status = Run.CANCELLING if run.status in MOVES_TO_CANCELLING else Run.CANCELLED
    return replace(after, cancelled=True, status=status), ()


MOVES_TO_CANCELLING = frozenset(one for one, to in MOVES.items() if Run.CANCELLING in to)


def _answer(run: RunState, event: events.OperatorAnswer) -> Read:
    """Only a leg that waits has a question, and each of its reports one."""
    leg = run.legs.get(event.leg)
    waits = leg is not None and leg.status is Leg.PAUSED and leg.sent == "run" and leg.answered < leg.seq
    if leg is None or not waits or (event.step and event.step not in {one.id for one in leg.plan}):
        return run, ()
    number = leg.order + 1
    sent = Send(leg=leg.id, number=number, verb=event.word, step=event.step)
    return changed_legs(run, {leg.id: replace(leg, order=number, answered=leg.seq)}), (sent,)


READERS: dict[type[events.Event], Callable[[RunState, Any], Read]] = {
    events.Begin: _begin,
    events.Tick: _tick,
    events.Reported: _reported,
    events.Away: _presence(away=True),
    events.Back: _presence(away=False),
    events.Pause: _pause,
    events.Resume: _resume,
    events.Cancel: _cancel,
    events.OperatorAnswer: _answer,
}
