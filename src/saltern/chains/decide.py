"""Decides what to do next for a leg, as a pure function of its state."""

from __future__ import annotations

from msgspec import Struct

from saltern.chains.denials import denied_by
from saltern.chains.document import Action
from saltern.chains.leg import LegState, OpenSegment
from saltern.chains.statuses import BAD, GOOD, OVER, Leg, Step, leg_status
from saltern.runtime.recovery import MOST_RECOVERIES


class Begin(Struct, frozen=True):
    """Run these actions as one run; the ``last`` ones do not depend on each other."""

    actions: tuple[Action, ...]
    last: bool = False


class Continue(Struct, frozen=True):
    """Find out how far a begun run has come, and finish it."""

    segment: OpenSegment


class Pause(Struct, frozen=True):
    """Wait for an operator."""

    reason: str


class Wait(Struct, frozen=True):
    """Wait for the controller to order the next action."""


class Deny(Struct, frozen=True):
    """Fail an action that the deny list of the machine does not allow."""

    action: str
    why: str


class Quarantine(Struct, frozen=True):
    """Run nothing more: the leg has broken repeatedly."""


class Finish(Struct, frozen=True):
    status: Leg


Command = Begin | Continue | Pause | Wait | Deny | Quarantine | Finish


def decide(state: LegState) -> Command | None:
    """The next command; None if the leg is over or waits."""
    if state.status in OVER or state.status in (Leg.PAUSED, Leg.WAITING):
        return None
    if state.quarantined:
        return Finish(Leg.INDETERMINATE)
    if state.recoveries > MOST_RECOVERIES:
        return Quarantine()
    if state.segment is not None:
        return Continue(state.segment)
    if state.status is Leg.QUEUED and state.cancelled:
        return Finish(Leg.CANCELLED)
    if state.status is Leg.QUEUED and _is_late(state):
        return Finish(Leg.EXPIRED)
    if state.cancelled:
        return _last(state, Leg.CANCELLED)
    for action in state.plan.steps:
        step = state.steps[action.id]
        if step.status in BAD and (command := _handle(state, action)) is not None:
            return command
        if step.status in GOOD or (step.status in BAD and not action.stops):
            continue
        if step.status in BAD and action.policy.on_failure == "pause":
            return Pause(f"{action.id} has {step.status.value}: retry it, skip it or declare it done")
        if step.status in BAD:
            break
        if _is_late(state):
            return _last(state, Leg.EXPIRED)
        return _begin(state, action)
    return _last(state, _end(state))


def _handle(state: LegState, action: Action) -> Command | None:
    """The command that runs the handlers of a failed action, once; None if there is nothing to do."""
    left = tuple(one for one in action.handlers if state.steps[one.id].status is Step.NOT_RUN)
    begun = [one for one in action.handlers if state.steps[one.id].status in BAD]
    if not left or begun:  # the handlers after a failed one are not run
        return None
    if why := _denial(state, left[0]):
        return Deny(left[0].id, why)
    return Begin(left[:1] if any(_denial(state, one) for one in left) else left)


def _begin(state: LegState, action: Action) -> Command:
    """The command that runs the segment from this action on, as far as it may run now."""
    segment = state.plan.segment_of(action.id)
    left = [one for one in segment.steps if state.steps[one.id].status is Step.NOT_RUN]
    names = [one.id for one in state.plan.steps]
    if state.until in names:
        left = [one for one in left if names.index(one.id) <= names.index(state.until)]
    if not left or is_lease_over(state):
        return Wait()
    left = left[:1] if state.lease else left  # the time limit is checked before every action
    handled = next((at for at, one in enumerate(left) if one.handlers and not one.stops), len(left))
    left = left[: handled + 1]  # its handlers come before the next action
    if why := _denial(state, left[0]):
        return Deny(left[0].id, why)
    stop = next((at for at, one in enumerate(left) if _denial(state, one)), len(left))
    return Begin(tuple(left[:stop]))


def is_lease_over(state: LegState) -> bool:
    """True if no action may begin until the controller orders it again: by the time that the machine has run,
    or by its clock, which also counts while it is down."""
    if not state.lease:
        return False
    passed = max(state.elapsed - state.leased_at, state.wall - state.leased_on if state.leased_on else 0.0)
    return passed >= state.lease


def _denial(state: LegState, action: Action) -> str:
    function, rule = denied_by(action, state.denied)
    return f"the deny list of this machine does not allow {function} ({rule})" if function else ""


def _is_late(state: LegState) -> bool:
    return state.plan.chain.deadline is not None and state.elapsed >= state.plan.chain.deadline


def _last(state: LegState, status: Leg) -> Command:
    """The command for the actions at the end, then the end with this status; after an indeterminate step,
    only actions with ``always``.
    """
    unknown = any(state.steps[one.id].status is Step.INDETERMINATE for one in state.plan.steps)
    left = tuple(
        action
        for action in state.plan.finalizers
        if state.steps[action.id].status is Step.NOT_RUN and (action.policy.always or not unknown)
    )
    if denied := next(((one.id, why) for one in left if (why := _denial(state, one))), None):
        return Deny(*denied)
    return Begin(left, last=True) if left else Finish(status)


def _end(state: LegState) -> Leg:
    return leg_status({step.status for step in state.steps.values()})
