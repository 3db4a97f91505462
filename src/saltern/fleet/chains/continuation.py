"""What a step's result means for the steps after it, and for its leg."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from saltern.chains.statuses import BAD, ENDED_WELL, GOOD, Leg, Step, leg_status
from saltern.fleet.chains.model import StepPlan, StepState

OPEN = frozenset({Step.NOT_RUN, Step.WAITING, Step.RUNNING, Step.CANCELLED})
HELD = frozenset({Step.NOT_RUN, Step.CANCELLED})


def next_step(plan: Sequence[StepPlan], steps: Sequence[StepState]) -> int | None:
    """The step that may run now: the first that is not done, if no earlier one blocks it."""
    for index, (action, step) in enumerate(zip(plan, steps, strict=True)):
        if step.status in OPEN:
            return index
        if step.status in BAD and action.on_failure != "continue":
            return None
    return None


def with_blockers(plan: Sequence[StepPlan], steps: Sequence[StepState]) -> tuple[StepState, ...]:
    """The steps, each unrun one with the name of the step that blocks it."""
    blocker, found = "", []
    for action, step in zip(plan, steps, strict=True):
        held = step.status in HELD and not action.final
        found.append(replace(step, blocked_by=blocker if held else ""))
        if not blocker and not action.final and action.on_failure != "continue" and step.status in BAD:
            blocker = action.id
    return tuple(found)


def leg_end(steps: Sequence[StepState], plan: Sequence[StepPlan] = ()) -> Leg | None:
    """How the leg ended, by its steps; None if one of them has neither succeeded nor failed. Steps that the
    ``plan`` has only for failures need not have run."""
    idle = {at for at, one in enumerate(plan) if one.handles and steps[at].status in HELD}
    found = {step.status for at, step in enumerate(steps) if at not in idle}
    return leg_status(found) if found & BAD or found <= GOOD else None


def judge_status(said: Leg, steps: Sequence[StepState], plan: Sequence[StepPlan] = ()) -> Leg:
    """The status that a system reports, if its steps confirm it: success needs the success of every step."""
    if said not in ENDED_WELL:
        return said
    return leg_end(steps, plan) or Leg.INDETERMINATE
