"""How far a leg may proceed now: to the next gate; in lockstep, with the other legs of its wave; by its
autonomy, to the end of its segment or step; and as far as fits into its window.
"""

from __future__ import annotations

from math import inf

from saltern.chains.statuses import BAD, GOOD, Step
from saltern.fleet.chains.model import LegState, RunState, StepPlan, StepState

NONE = "-"  # none of its steps may begin yet


def last_step(run: RunState, leg: LegState) -> str:
    """The last step that a leg may do now; empty: all of them.

    It stops before a step whose gate is not open. In lockstep no leg passes the first action that some open
    leg of the wave has not done; legs do not wait at an action that they do not have.
    """
    own = own_steps(leg)
    number = min(
        _to_gate(run, own), _to_front(run, leg, own), _to_lease(run, leg, own), fitting_steps(run, leg)
    )
    is_bound = run.strategy.lockstep or run.strategy.autonomy != "full"
    return "" if number == len(own) and not is_bound else _at(own, number)


def own_steps(leg: LegState) -> list[StepPlan]:
    """The steps without those of the end, which are done in any case."""
    return [step for step in leg.plan if not step.final]


def _to_gate(run: RunState, own: list[StepPlan]) -> int:
    return next((at for at, step in enumerate(own) if is_shut(run, step)), len(own))


def _to_front(run: RunState, leg: LegState, own: list[StepPlan]) -> int:
    if not run.strategy.lockstep:
        return len(own)
    others = (one for one in run.legs.values() if one.wave == leg.wave and not one.is_over)
    front = min(map(_front, others), default=inf)
    return sum(step.place <= front for step in own)


def _to_lease(run: RunState, leg: LegState, own: list[StepPlan]) -> int:
    """How many steps it may do without contact with its controller."""
    at = _next(leg)
    if run.strategy.autonomy == "full" or at is None:
        return len(own)
    if run.strategy.autonomy == "per_step":
        return at + 1
    return next((to for to in range(at, len(own)) if own[to].segment != own[at].segment), len(own))


def is_further(leg: LegState, until: str) -> bool:
    """True if it may do more than its last order allows; less needs no order: it is paused in time."""
    names = [step.id for step in own_steps(leg)]
    places = {name: at for at, name in enumerate(names)} | {"": len(names), NONE: -1}
    return places.get(until, -1) > places.get(leg.until, -1)


# -- gates --------------------------------------------------------------------------------------------


def is_shut(run: RunState, step: StepPlan) -> bool:
    """True if the step waits for an approval."""
    return bool(step.gate) and step.gate not in run.opened


def missing_approval(run: RunState, leg: LegState) -> str:
    """The gate of the run, or of the leg's wave, that was not approved; empty: the leg may begin."""
    gates = (run.gate, run.waves[leg.wave].gate)
    return next((gate for gate in gates if gate and gate not in run.opened), "")


def waited_gate(run: RunState, leg: LegState) -> str:
    """The gate that a leg waits for, at its first step that is not done; empty: none."""
    at = _next(leg)
    step = own_steps(leg)[at] if at is not None else None
    return step.gate if step is not None and is_shut(run, step) else ""


# -- windows ------------------------------------------------------------------------------------------


def fitting_steps(run: RunState, leg: LegState) -> int:
    """How many steps fit into the open window, by their expected times."""
    own = own_steps(leg)
    if not leg.window_until:
        return len(own)
    now = run.now
    for at, (step, state) in enumerate(zip(own, leg.steps, strict=False)):
        if _is_done(step, state):
            continue
        if state.status is Step.RUNNING:
            now += max(0.0, step.expected - (run.now - (state.started or run.now)))
        elif now + step.expected > leg.window_until:
            return at
        else:
            now += step.expected
    return len(own)


def unfit_step(run: RunState, leg: LegState) -> str:
    """Why the next step may not begin although a window is open; empty: it may."""
    own, at = own_steps(leg), _next_unbegun(leg)
    if not leg.window_until or at is None or run.now + own[at].expected <= leg.window_until:
        return ""
    left = max(0, round(leg.window_until - run.now))
    return f"{own[at].id} takes about {own[at].expected:g} seconds, and the window ends in {left}"


# -- steps --------------------------------------------------------------------------------------------


def _at(own: list[StepPlan], number: int) -> str:
    return own[number - 1].id if number else NONE


def _next(leg: LegState) -> int | None:
    """The index of the first of its own steps that is not done."""
    pairs = enumerate(zip(own_steps(leg), leg.steps, strict=False))
    return next((at for at, (step, state) in pairs if not _is_done(step, state)), None)


def _next_unbegun(leg: LegState) -> int | None:
    pairs = enumerate(zip(own_steps(leg), leg.steps, strict=False))
    open_ = (
        at for at, (step, state) in pairs if not _is_done(step, state) and state.status is not Step.RUNNING
    )
    return next(open_, None)


def _front(leg: LegState) -> float:
    """The position in the chain of the first step that is not done."""
    at = _next(leg)
    return inf if at is None else own_steps(leg)[at].place


def _is_done(step: StepPlan, state: StepState) -> bool:
    return state.status in GOOD or (state.status in BAD and step.on_failure == "continue")
