"""What is known of a leg, folded from its records; and, as a pure function, what is to be done next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from saltern.chains.compile import Plan
from saltern.chains.document import Action
from saltern.chains.statuses import BAD, GOOD, OVER, Leg, Step, check_move
from saltern.journal.store import Record

Body = Mapping[str, Any]


class StepState(Struct):
    """One action. ``blocked_by`` is the action that keeps it from running."""

    status: Step = Step.NOT_RUN
    comment: str = ""
    changed: bool = False
    blocked_by: str = ""
    attempts: int = 0
    took: float = 0.0

    def move(self, status: Step) -> None:
        check_move(self.status, status)
        self.status = status


class OpenChunk(Struct, frozen=True):
    """A run that was begun for some actions of a chunk, and whose results are not written down yet."""

    jid: str
    actions: tuple[str, ...]


class LegState(Struct):
    plan: Plan
    steps: dict[str, StepState] = field(default_factory=dict)
    status: Leg = Leg.PENDING
    chunk: OpenChunk | None = None
    cancelled: str = ""
    records: int = 0

    def move(self, status: Leg) -> None:
        check_move(self.status, status)
        self.status = status


def fold(plan: Plan, records: Iterable[Record]) -> LegState:
    """A pure function, so that any prefix of a journal has one meaning."""
    state = LegState(plan, steps={action.id: StepState() for action in plan.steps})
    for record in records:
        state.records = record.seq + 1
        reader = READERS.get(record.kind)
        if reader is not None:
            reader(state, record.body)  # type: ignore[arg-type]
    _block(state)
    return state


def _begun(state: LegState, _body: Body) -> None:
    state.move(Leg.RUNNING)


def _chunk(state: LegState, body: Body) -> None:
    state.chunk = OpenChunk(body["jid"], tuple(body["actions"]))


def _results(state: LegState, body: Body) -> None:
    state.chunk = None
    state.move(Leg.RUNNING)
    for name, result in body["steps"].items():
        step = state.steps[name]
        after = Step(result["status"])
        if after is not Step.NOT_RUN:
            step.move(Step.RUNNING)
            step.attempts += 1
        step.move(after)
        step.comment, step.changed = result["comment"], result["changed"]
        step.took = result["took"]


def _left(state: LegState, body: Body) -> None:
    """The process ends here: what follows happens on the other side."""
    state.move(Leg(body["status"]))


def _cancel(state: LegState, body: Body) -> None:
    state.cancelled = body["reason"]


def _skip(state: LegState, body: Body) -> None:
    step = state.steps[body["action"]]
    step.move(Step.SKIPPED)
    step.comment = body["reason"]
    if state.status in OVER:
        state.move(Leg.PAUSED)
        _reopen(state, {Step.CANCELLED})


def _retry(state: LegState, _body: Body) -> None:
    if state.status in OVER:
        state.move(Leg.PAUSED)
    _reopen(state, {*BAD, Step.CANCELLED})


def _reopen(state: LegState, which: set[Step]) -> None:
    state.cancelled = ""
    for step in state.steps.values():
        if step.status in which:
            step.move(Step.NOT_RUN)
        if step.status is Step.NOT_RUN:
            step.comment = ""


def _finished(state: LegState, body: Body) -> None:
    state.move(Leg(body["status"]))
    if state.status is Leg.CANCELLED:
        for step in state.steps.values():
            if step.status is Step.NOT_RUN:
                step.move(Step.CANCELLED)
                step.comment = state.cancelled


def _block(state: LegState) -> None:
    """Whoever has not run says which action is in its way."""
    blocker = ""
    for action in state.plan.steps:
        step = state.steps[action.id]
        step.blocked_by = blocker if step.status in (Step.NOT_RUN, Step.CANCELLED) else ""
        if action.stops and not blocker and step.status in (*BAD, Step.RUNNING):
            blocker = action.id


READERS: dict[str, Callable[[LegState, Body], None]] = {
    "begun": _begun,
    "chunk": _chunk,
    "results": _results,
    "left": _left,
    "cancel": _cancel,
    "skip": _skip,
    "retry": _retry,
    "finished": _finished,
}


# -- what is next ------------------------------------------------------------------------------------


class Begin(Struct, frozen=True):
    """Run these actions as one run."""

    actions: tuple[Action, ...]


class GoOn(Struct, frozen=True):
    """A run was begun; find out how it stands, and end it."""

    chunk: OpenChunk


class Finish(Struct, frozen=True):
    status: Leg


Command = Begin | GoOn | Finish


def decide(state: LegState) -> Command | None:
    """None: the leg is over."""
    if state.status in OVER:
        return None
    if state.chunk is not None:
        return GoOn(state.chunk)
    if state.cancelled:
        return Finish(Leg.CANCELLED)
    for action in state.plan.steps:
        step = state.steps[action.id]
        if step.status in GOOD or (step.status in BAD and not action.stops):
            continue
        if step.status in BAD:
            return Finish(_end(state))
        chunk = state.plan.chunk_of(action.id)
        return Begin(tuple(one for one in chunk.steps if state.steps[one.id].status is Step.NOT_RUN))
    return Finish(_end(state))


def _end(state: LegState) -> Leg:
    found = {step.status for step in state.steps.values()}
    if Step.INDETERMINATE in found:
        return Leg.INDETERMINATE
    if found & BAD:
        return Leg.FAILED
    return Leg.SUCCEEDED_WITH_SKIPS if Step.SKIPPED in found else Leg.SUCCEEDED
