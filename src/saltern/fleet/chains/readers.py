"""Applies an event to a run, one function for each kind; its consequences are decided elsewhere.

A reader that returns the same run has learned nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDED_WELL, ENDS, MOVES, OVER, Leg, Run, Status, Step
from saltern.fleet.chains import events
from saltern.fleet.chains.continuation import judge_status, with_blockers
from saltern.fleet.chains.events import Command, Note, Send
from saltern.fleet.chains.legs import changed_legs, is_failed
from saltern.fleet.chains.model import LegState, RunState, StepState, WaveState
from saltern.fleet.chains.reach import missing_approval, waited_gate

Read = tuple[RunState, tuple[Command, ...]]
DOWN = frozenset({Leg.REBOOTING, Leg.UPDATING})
BACK_LATE = "it is back after its deadline, and continues; its result corrects this"
GIVEN_UP = "it is no longer waited for"
PUT_BACK = "its system was restored to an earlier state: check what was done there, then retry or skip"


def _begin(run: RunState, event: events.Begin) -> Read:
    """Begin a run that needs no approval when a window of one of its systems is open."""
    if run.status is not Run.SCHEDULED:
        return run, ()
    waits = run.gate and run.gate not in run.opened
    if not waits and all(leg.shut for leg in run.legs.values()):
        return run, ()
    if not waits and (why := _too_few(run, event.missing)):
        return (replace(run, waits=why) if why != run.waits else run), ()
    return replace(run, status=Run.AWAITING_APPROVAL if waits else Run.RUNNING, waits=""), ()


def _too_few(run: RunState, missing: Sequence[str]) -> str:
    """Why too few systems are connected for the run to begin; empty: there are enough."""
    total, wanted = len(run.legs), run.strategy.reachable
    if wanted is None or total - len(missing) >= wanted.of(total):
        return ""
    names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    there = f"{total - len(missing)} of {total} systems are connected"
    return f"{there}, and {wanted.of(total)} must be; away: {names}"


def _windows(run: RunState, event: events.Windows) -> Read:
    """Pause a leg whose window closes before its next action; continue it when one opens."""
    legs = {}
    for leg in run.legs.values():
        shut, until = event.shut.get(leg.id, ""), event.until.get(leg.id, 0)
        if not leg.is_over and (leg.shut, leg.window_until) != (shut, until):
            legs[leg.id] = replace(leg, shut=shut, window_until=until, unfit=leg.unfit if until else "")
    return changed_legs(run, legs), ()


def _tick(run: RunState, _event: events.Tick) -> Read:
    return run, ()


# -- systems ------------------------------------------------------------------------------------------


def _reported(run: RunState, event: events.Reported) -> Read:
    """Apply a report. Newer reports replace older ones; one after the deadline corrects the status."""
    leg = run.legs.get(event.leg)
    if leg is None or not leg.order or event.seq <= leg.seq or len(event.steps) != len(leg.plan):
        return run, ()
    if _is_outdated(leg, event):
        return run, ()
    status = _seen_status(leg, event)
    steps = with_blockers(leg.plan, event.steps)
    after = replace(
        leg,
        seq=event.seq,
        status=status,
        steps=_with_attempts(leg, steps),
        away=False,
        away_since=0,
        waits_for=event.waits_for,
        quarantined=event.quarantined,
        sent="run" if event.order > leg.order else leg.sent or "run",  # later orders are sent again
        order=max(leg.order, event.order),
        again=leg.again if leg.sent else "",
        back_by=_back_by(run, leg, event, status),
        lost=leg.lost and status is Leg.EXPIRED,
        boot=event.boot or leg.boot,
        build=event.build or leg.build,
        boots=event.boots or leg.boots,
    )
    if after.lost:
        after = replace(after, waits_for=BACK_LATE)
    if status is Leg.WAITING and (gate := waited_gate(run, after)):
        after = replace(after, waits_for=f"approval of gate {gate!r}")
    found = changed_legs(run, {leg.id: after})
    if run.status in ENDS and not after.is_over:
        found = replace(found, status=Run.RUNNING)
    return found, tuple(_remarks(leg, after))


def _remarks(leg: LegState, after: LegState) -> Iterator[Note]:
    """What to record about a report: that it corrects an end, or that a barrier outlasted its window."""
    if leg.is_over and after.status is not leg.status:
        yield _correction(leg, after)
    if leg.status in DOWN and after.status not in DOWN and leg.shut:
        why = f"a step that began in its window ended outside it: {leg.shut}"
        yield Note(about=leg.id, before=leg.status.value, after=after.status.value, why=why)


def _back_by(run: RunState, leg: LegState, event: events.Reported, status: Leg) -> float:
    """When a system that goes down must be back: counted from the arrival of the report, by one clock."""
    if status not in DOWN:
        return 0
    return leg.back_by or run.now + event.down_in + (event.back_in or leg.usual_return)


def _is_outdated(leg: LegState, event: events.Reported) -> bool:
    """True if the leg was read before an operator's later answer changed it: it would end, or wait for an
    answer, once more. A system that knows a higher order has skipped that one.
    """
    applied = event.applied if event.applied is not None else event.order or leg.renewed
    return applied < leg.renewed and event.order <= leg.renewed


def _with_attempts(leg: LegState, steps: Sequence[StepState]) -> tuple[StepState, ...]:
    """Add the attempts that were reported before to each step: a system reports only the newest."""
    before = leg.steps or steps
    return tuple(_join_attempts(old, new) for old, new in zip(before, steps, strict=True))


def _join_attempts(old: StepState, new: StepState) -> StepState:
    newest = {one.number for one in new.attempts}
    kept = tuple(one for one in old.attempts if one.number not in newest)
    return replace(new, attempts=(*kept, *new.attempts)) if kept else new


def _refused(run: RunState, event: events.Refused) -> Read:
    """End a leg that was refused: nothing was done, and its first step says why."""
    leg = run.legs.get(event.leg)
    if leg is None or leg.is_over or leg.sent is None:
        return run, ()
    open_steps = [at for at, step in enumerate(leg.steps) if step.status is Step.NOT_RUN]
    steps = list(leg.steps)
    if open_steps:
        steps[open_steps[0]] = replace(steps[open_steps[0]], comment=event.why)
    after = replace(leg, status=event.status, steps=tuple(steps), waits_for=event.why)
    return changed_legs(run, {leg.id: after}), ()


CALLED = {"deadline": Leg.EXPIRED, "window": Leg.FAILED}  # who asked a leg to end → the resulting status


def _seen_status(leg: LegState, event: events.Reported) -> Leg:
    """The status to record: a leg that ends because of its deadline has expired, whatever its system
    reports.
    """
    status = judge_status(event.status, event.steps, leg.plan)
    if status is Leg.CANCELLED:
        status = CALLED.get(leg.ending, status)
    if leg.status is Leg.EXPIRED and status not in OVER:
        return leg.status
    return status if status in _reachable(leg.status) else leg.status


def _reachable(status: Leg) -> set[Status]:
    """Every status that a leg may have reached: reports in between may have been lost."""
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
        since = event.now if away else 0
        return changed_legs(run, {leg.id: replace(leg, away=away, away_since=since)}), ()

    return read


def _given_up(run: RunState, event: events.GivenUp) -> Read:
    """Give up systems that are away; one that is connected can be asked to end."""
    said = f"{GIVEN_UP}: {event.why}" if event.why else GIVEN_UP
    legs = {
        leg.id: replace(leg, status=Leg.EXPIRED, lost=True, waits_for=said)
        for leg in _open_legs(run, event.legs)
        if leg.away and leg.sent is not None
    }
    notes = [
        Note(about=leg.id, before=run.legs[leg.id].status.value, after=leg.status.value, why=said)
        for leg in legs.values()
    ]
    return changed_legs(run, legs), tuple(notes)


def _gone(run: RunState, event: events.Gone) -> Read:
    """End the legs of systems that left: those that began count as expired, the others as cancelled."""
    legs = {
        leg.id: replace(
            leg,
            status=Leg.CANCELLED if leg.sent is None else Leg.EXPIRED,
            lost=leg.sent is not None,
            waits_for=event.why[leg.id],
        )
        for leg in _open_legs(run, tuple(event.why))
    }
    notes = [
        Note(about=name, before=run.legs[name].status.value, after=leg.status.value, why=leg.waits_for)
        for name, leg in legs.items()
    ]
    return changed_legs(run, legs), tuple(notes)


def _restored(run: RunState, event: events.Restored) -> Read:
    """Stop work on a restored system until an operator has checked it."""
    leg = run.legs.get(event.leg)
    if leg is None or leg.is_over or leg.seq < 0:
        return run, ()
    number = leg.order + 1
    after = replace(leg, status=Leg.INDETERMINATE, waits_for=PUT_BACK, sent="cancel", order=number)
    after = replace(after, seq=-1, renewed=number + 1)  # reports until it is resumed are outdated
    note = Note(about=leg.id, before=leg.status.value, after=after.status.value, why=PUT_BACK)
    return changed_legs(run, {leg.id: after}), (Send(leg=leg.id, number=number, verb="cancel"), note)


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
    waves = tuple(replace(one, health="excused") if one.health == "failed" else one for one in run.waves)
    return replace(run, status=Run.RUNNING, halted="", excused=excused, waves=waves), ()


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
    """Apply an operator's answer to a leg that waits or has not succeeded; each report is answered once."""
    leg = run.legs.get(event.leg)
    if leg is None or not _may_answer(leg, event) or (leg.is_over and missing_approval(run, leg)):
        return run, ()
    number = leg.order + 1
    sent = Send(leg=leg.id, number=number, verb=event.word, step=event.step)
    answered = replace(leg, order=number, answered=leg.seq, renewed=number)
    if event.word == "release" or not leg.is_over:
        return changed_legs(run, {leg.id: answered}), (sent,)
    again = replace(
        leg, away=False, status=Leg.PENDING, ending="", held=False, sent=None, until="", answered=leg.seq
    )
    again = replace(again, away_since=0, back_by=0, lost=False, unfit="", not_before=0, tries=0)
    again = replace(again, again=event.word, again_step=event.step, again_from=leg.status)
    return _reopen(changed_legs(run, {leg.id: again}), event.deadline), ()


def _may_answer(leg: LegState, event: events.OperatorAnswer) -> bool:
    if event.step and event.step not in {one.id for one in leg.plan}:
        return False
    if event.word == "release" or leg.quarantined:
        return event.word == "release" and leg.quarantined and leg.answered < leg.seq
    if leg.is_over:
        fresh = leg.answered < leg.seq or leg.seq < 0
        return event.word != "resume" and leg.status not in ENDED_WELL and fresh
    return leg.status is Leg.PAUSED and leg.sent == "run" and leg.answered < leg.seq


def _reopen(run: RunState, deadline: float) -> RunState:
    """A run with a leg that is started again. The operator who orders that has seen the failures."""
    run = replace(run, deadline=max(run.deadline, deadline))
    if run.status not in ENDS:
        return run
    failed = frozenset(leg.id for leg in run.legs.values() if is_failed(run, leg))
    return replace(run, status=Run.RUNNING, cancelled=False, excused=run.excused | failed)


# -- gates --------------------------------------------------------------------------------------------


def _opened(run: RunState, event: events.Opened) -> Read:
    if event.gate in run.opened or run.status in ENDS:
        return run, ()
    after = replace(run, opened=run.opened | {event.gate})
    begins = run.status is Run.AWAITING_APPROVAL and event.gate == run.gate
    return (replace(after, status=Run.RUNNING) if begins else after), ()


def _closed(run: RunState, event: events.Closed) -> Read:
    """Cancel what has not begun; what runs continues to its end. A gate before a step ends the legs that
    have not passed it before their next step.
    """
    if event.gate in run.opened or run.status in ENDS:
        return run, ()
    behind = [leg for leg in run.legs.values() if any(step.gate == event.gate for step in leg.plan)]
    waiting = behind or [leg for leg in run.legs.values() if leg.sent is None]
    waiting = [leg for leg in waiting if not leg.is_over and not leg.ending]
    legs = {leg.id: replace(leg, ending="operator", waits_for=event.why) for leg in waiting}
    note = Note(about=run.id, before=run.status.value, after=run.status.value, why=event.why)
    after = changed_legs(run, legs)
    return (after if len(behind) == 1 < len(run.legs) else replace(after, halted=event.why)), (note,)


# -- health -------------------------------------------------------------------------------------------


def _with_wave(run: RunState, wave: WaveState) -> RunState:
    return replace(run, waves=tuple(wave if one.number == wave.number else one for one in run.waves))


def _check_sent(run: RunState, event: events.CheckSent) -> Read:
    wave = run.waves[event.wave]
    if wave.health != "asked" or wave.check:
        return run, ()
    return _with_wave(run, replace(wave, check=event.job)), ()


def _checked(run: RunState, event: events.Checked) -> Read:
    """Halt the run if strictly more than the limit failed; an operator who resumes it excuses the wave."""
    wave, check = run.waves[event.wave], run.strategy.health
    if wave.health != "asked" or check is None:
        return run, ()
    if not check.max_failures.is_exceeded(len(event.failed), event.of):
        return _with_wave(run, replace(wave, health="passed")), ()
    after = _with_wave(run, replace(wave, health="failed"))
    if run.status is not Run.RUNNING:
        return after, ()
    if check.check:
        said = "; ".join(event.failed.values())
        why = f"the health check {check.check!r} failed after wave {event.wave + 1}: {said}"
        return replace(after, status=Run.HALTED, halted=why), ()
    some = ", ".join(f"{system} ({why})" for system, why in list(event.failed.items())[:5])
    what = f"the health check after wave {event.wave + 1} failed on {len(event.failed)} of {event.of} systems"
    return replace(after, status=Run.HALTED, halted=f"{what}: {some}"), ()


READERS: dict[type[events.Event], Callable[[RunState, Any], Read]] = {
    events.Begin: _begin,
    events.Windows: _windows,
    events.Tick: _tick,
    events.Reported: _reported,
    events.Away: _presence(away=True),
    events.Back: _presence(away=False),
    events.Pause: _pause,
    events.Resume: _resume,
    events.Cancel: _cancel,
    events.OperatorAnswer: _answer,
    events.Refused: _refused,
    events.GivenUp: _given_up,
    events.Gone: _gone,
    events.Restored: _restored,
    events.Opened: _opened,
    events.Closed: _closed,
    events.CheckSent: _check_sent,
    events.Checked: _checked,
}
