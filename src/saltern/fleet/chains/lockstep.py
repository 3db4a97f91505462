"""Lockstep: all legs of a wave finish a step before one of them begins the next."""

from __future__ import annotations

from math import inf

from saltern.chains.statuses import BAD, GOOD
from saltern.fleet.chains.model import LegState, RunState, StepPlan, StepState

NONE = "-"  # none of its steps may begin yet


def last_step(run: RunState, leg: LegState) -> str:
    """The last step that a leg may do now; empty: all of them.

    No leg is further than the first action that some open leg of the wave has not done. An action that a
    leg does not have is none that it could wait for.
    """
    if not run.strategy.lockstep:
        return ""
    others = (one for one in run.legs.values() if one.wave == leg.wave and not one.is_over)
    front = min(map(_front, others), default=inf)
    own = [step.id for step in leg.plan if not step.final and step.place <= front]
    return own[-1] if own else NONE


def _front(leg: LegState) -> float:
    """The place of the first step that is not done."""
    pairs = zip(leg.plan, leg.steps, strict=True)
    return next((step.place for step, state in pairs if not step.final and not _is_done(step, state)), inf)


def _is_done(step: StepPlan, state: StepState) -> bool:
    return state.status in GOOD or (state.status in BAD and step.on_failure == "continue")
