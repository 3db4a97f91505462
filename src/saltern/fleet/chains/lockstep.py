"""How far a leg may go now: to the next gate; in lockstep, to what all legs of its wave have done."""

from __future__ import annotations

from math import inf

from saltern.chains.statuses import BAD, GOOD
from saltern.fleet.chains.model import LegState, RunState, StepPlan, StepState

NONE = "-"  # none of its steps may begin yet


def last_step(run: RunState, leg: LegState) -> str:
    """The last step that a leg may do now; empty: all of them.

    It stops before a step whose gate is not open. In lockstep no leg is further than the first action that
    some open leg of the wave has not done; an action that a leg does not have is none that it could wait for.
    """
    own = [step for step in leg.plan if not step.final]
    shut = next((at for at, step in enumerate(own) if is_shut(run, step)), len(own))
    if not run.strategy.lockstep:
        return "" if shut == len(own) else _at(own, shut)
    others = (one for one in run.legs.values() if one.wave == leg.wave and not one.is_over)
    front = min(map(_front, others), default=inf)
    return _at(own, min(shut, sum(step.place <= front for step in own)))


def is_shut(run: RunState, step: StepPlan) -> bool:
    """Whether the step waits for an approval."""
    return bool(step.gate) and step.gate not in run.opened


def waited_gate(run: RunState, leg: LegState) -> str:
    """The gate that a leg waits for: that of the first step that is not done; empty: none."""
    pairs = zip(leg.plan, leg.steps, strict=True)
    step = next((one for one, state in pairs if not one.final and not _is_done(one, state)), None)
    return step.gate if step is not None and is_shut(run, step) else ""


def _at(own: list[StepPlan], number: int) -> str:
    return own[number - 1].id if number else NONE


def _front(leg: LegState) -> float:
    """The place of the first step that is not done."""
    pairs = zip(leg.plan, leg.steps, strict=True)
    return next((step.place for step, state in pairs if not step.final and not _is_done(step, state)), inf)


def _is_done(step: StepPlan, state: StepState) -> bool:
    return state.status in GOOD or (state.status in BAD and step.on_failure == "continue")
