"""The state of a leg, folded from its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from saltern.chains.compile import LegPlan
from saltern.chains.statuses import BAD, GOOD, OVER, Leg, Step, WrongMove, check_move
from saltern.journal.form import Record

Body = Mapping[str, Any]


class StepState(Struct):
    """One action. ``blocked_by`` is the action that keeps it from running."""

    status: Step = Step.NOT_RUN
    comment: str = ""
    changed: bool = False
    blocked_by: str = ""
    attempts: int = 0
    took: float = 0.0
    started: float = 0.0
    run: str = ""  # the number of the run that it was part of
    output: dict[str, str] = {}
    output_size: dict[str, int] = {}  # characters of each stream, including those that are left out
    exit_code: int | None = None

    def move(self, status: Step) -> None:
        check_move(self.status, status)
        self.status = status


class Boot(Struct, frozen=True):
    """A boot of the machine while the leg was open; ``at``: when it was noticed, by its clock; 0: unknown."""

    planned: bool
    at: float = 0.0


class OpenSegment(Struct, frozen=True):
    """A run that was begun for actions of a segment, and whose results are not recorded yet.

    ``announced``: it left a mark before this was recorded, so its files are missing only if they were lost.
    """

    jid: str
    actions: tuple[str, ...]
    announced: bool = False


class LegState(Struct):
    plan: LegPlan
    steps: dict[str, StepState] = field(default_factory=dict)
    status: Leg = Leg.PENDING
    segment: OpenSegment | None = None
    cancelled: str = ""
    paused: str = ""  # the reason why it waits for an operator
    behind: str = ""  # the leg that it waits for, while it is queued
    recoveries: int = 0  # since its last progress
    quarantined: bool = False
    elapsed: float = 0.0  # seconds of a running machine since it was accepted
    boot: str = ""
    boots: list[Boot] = field(default_factory=list)
    tick: float = 0.0
    wall: float = 0.0  # the time of day of the newest record
    records: int = 0
    order: int = 0  # the newest order of a controller
    until: str = ""  # the last action that may run now; empty: all
    lease: float = 0.0  # seconds during which actions may begin; 0: no limit
    leased_at: float = 0.0  # ``elapsed`` at that time, and the time of day
    leased_on: float = 0.0
    denied: tuple[str, ...] = ()  # functions that the machine does not let a controller call

    def move(self, status: Leg) -> None:
        check_move(self.status, status)
        self.status = status


def fold(plan: LegPlan, records: Iterable[Record]) -> LegState:
    """Fold the records of a leg. Pure, so that any prefix of a journal has one meaning."""
    state = LegState(plan, steps={action.id: StepState() for action in plan.every})
    for record in records:
        state.records = record.seq + 1
        body: Any = record.body
        _note_boot(state, record.kind, body)
        _pass_time(state, body)
        reader = READERS.get(record.kind)
        if reader is not None:
            reader(state, body)
    _block(state)
    return state


def _note_boot(state: LegState, kind: str, body: Body) -> None:
    """Note a boot. It was planned if the leg was at work and its process was not lost."""
    if not state.boot or body.get("boot", state.boot) == state.boot:
        return
    planned = kind != "recovered" and state.status in (Leg.REBOOTING, Leg.RUNNING)
    state.boots.append(Boot(planned, float(body.get("at") or 0.0)))


def _pass_time(state: LegState, body: Body) -> None:
    """Count time by the ticks since the boot, which no change of the clock moves. The time while a machine is
    down does not count.
    """
    if "tick" not in body:
        return
    begun = state.tick if body["boot"] == state.boot else 0.0
    if state.boot:
        state.elapsed += max(0.0, body["tick"] - begun)
    state.boot, state.tick = body["boot"], body["tick"]
    state.wall = float(body.get("wall") or state.wall)


def _ordered(state: LegState, body: Body) -> None:
    """Apply the newest order of a controller."""
    state.order = max(state.order, int(body.get("order") or 0))
    state.until = str(body.get("until") or "")
    state.lease, state.leased_at = float(body.get("lease") or 0), state.elapsed
    state.leased_on = float(body.get("at") or body.get("started") or 0)
    state.denied = tuple(body.get("denied") or ())


def _waiting(state: LegState, _body: Body) -> None:
    state.move(Leg.WAITING)


def _begun(state: LegState, _body: Body) -> None:
    state.move(Leg.RUNNING)
    state.paused = ""


def _queued(state: LegState, body: Body) -> None:
    """The leg waits until another one has ended."""
    state.move(Leg.QUEUED)
    state.behind = body["behind"]


def _recovered(state: LegState, body: Body) -> None:
    """The process of the leg was lost, and another one continues it. The ``run`` of its segment may be
    older.
    """
    state.recoveries = max(state.recoveries, body["run"]) + 1


def _paused(state: LegState, body: Body) -> None:
    state.move(Leg.PAUSED)
    state.paused = body["reason"]


def _quarantine(state: LegState, body: Body) -> None:
    _results(state, body)
    state.quarantined = True


def _release(state: LegState, body: Body) -> None:
    if not state.quarantined:
        raise WrongMove("it is not in quarantine")
    state.order = max(state.order, int(body.get("order") or 0))
    state.quarantined, state.recoveries = False, 0


def _segment(state: LegState, body: Body) -> None:
    state.segment = OpenSegment(body["jid"], tuple(body["actions"]), bool(body.get("announced")))


def _results(state: LegState, body: Body) -> None:
    jid = body.get("jid") or (state.segment.jid if state.segment else "")
    state.segment = None
    state.recoveries = 0
    state.move(Leg.RUNNING)
    for name, result in body["steps"].items():
        step = state.steps[name]
        after = Step(result["status"])
        if after is not Step.NOT_RUN:
            step.move(Step.RUNNING)
            step.attempts += 1
        step.move(after)
        step.comment, step.changed = result["comment"], result["changed"]
        step.took, step.started = result["took"], result.get("started", 0.0)
        step.output, step.exit_code = result.get("output", {}), result.get("exit_code")
        step.output_size = result.get("output_size", {})
        step.run = jid if after is not Step.NOT_RUN else ""


def _left(state: LegState, body: Body) -> None:
    """The process ends at a barrier; another one continues after it."""
    state.move(Leg(body["status"]))


def _cancel(state: LegState, body: Body) -> None:
    state.cancelled = body["reason"]


def _skip(state: LegState, body: Body) -> None:
    _settle(state, body, Step.SKIPPED)


def _done(state: LegState, body: Body) -> None:
    """An operator has checked an action and declares it done."""
    _settle(state, body, Step.SUCCEEDED)


def _settle(state: LegState, body: Body, status: Step) -> None:
    _not_quarantined(state)
    state.order = max(state.order, int(body.get("order") or 0))
    step = state.steps[body["action"]]
    if step.status in GOOD:
        raise WrongMove(f"{body['action']} has {step.status.value} already")
    step.move(status)
    step.comment = body["reason"]
    if state.status in OVER:
        state.move(Leg.PAUSED)
        _reopen(state, {Step.CANCELLED})


def _retry(state: LegState, body: Body) -> None:
    """Reopen the actions that have not succeeded; with ``action``, all from that one on."""
    _not_quarantined(state)
    state.order = max(state.order, int(body.get("order") or 0))
    if state.status in OVER:
        state.move(Leg.PAUSED)
    _reopen(state, {*BAD, Step.CANCELLED})
    if first := body.get("action"):
        names = [action.id for action in state.plan.steps]
        for name in names[names.index(first) :] if first in names else []:
            state.steps[name] = StepState(attempts=state.steps[name].attempts)  # it begins again


def _not_quarantined(state: LegState) -> None:
    if state.quarantined:
        raise WrongMove("it is in quarantine, because it broke repeatedly: find the cause, then release it")


def _reopen(state: LegState, which: set[Step]) -> None:
    state.cancelled = ""
    for step in state.steps.values():
        if step.status in which:
            step.move(Step.NOT_RUN)
        if step.status is Step.NOT_RUN:
            step.comment = ""
    for action in (*state.plan.handling, *state.plan.finalizers):  # these will run again
        if state.steps[action.id].status is not Step.SKIPPED:
            state.steps[action.id] = StepState(attempts=state.steps[action.id].attempts)


def _finished(state: LegState, body: Body) -> None:
    state.move(Leg(body["status"]))
    if state.status is Leg.CANCELLED:
        for step in state.steps.values():
            if step.status is Step.NOT_RUN:
                step.move(Step.CANCELLED)
                step.comment = state.cancelled


def _block(state: LegState) -> None:
    """Set the action that blocks it for each action that has not run."""
    blocker = ""
    for action in state.plan.steps:
        step = state.steps[action.id]
        step.blocked_by = blocker if step.status in (Step.NOT_RUN, Step.CANCELLED) else ""
        if action.stops and not blocker and step.status in (*BAD, Step.RUNNING):
            blocker = action.id


READERS: dict[str, Callable[[LegState, Body], None]] = {
    "accepted": _ordered,
    "order": _ordered,
    "waiting": _waiting,
    "begun": _begun,
    "queued": _queued,
    "chunk": _segment,
    "results": _results,
    "left": _left,
    "recovered": _recovered,
    "paused": _paused,
    "cancel": _cancel,
    "skip": _skip,
    "done": _done,
    "retry": _retry,
    "quarantine": _quarantine,
    "release": _release,
    "finished": _finished,
}
