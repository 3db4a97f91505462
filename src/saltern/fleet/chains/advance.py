"""``advance(run, event) -> run, commands``: everything that a controller decides about a run.

The rule in one sentence: apply the event; end legs past their deadline; halt if too many have failed; open
the next wave when the one before is over and has soaked; then compare what each system should do with its
last order, and send the difference. A run is over when all its legs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDED_WELL, ENDS, Leg, Run, Wave, check_move
from saltern.fleet.chains.again import note_unfit, retry_legs
from saltern.fleet.chains.deadlines import end_late_legs, end_lost_legs
from saltern.fleet.chains.events import Command, Event, Note, Reported, Send, Tick
from saltern.fleet.chains.legs import FAILURES, changed_legs, is_failed
from saltern.fleet.chains.reach import NONE, is_further, last_step
from saltern.fleet.chains.readers import READERS
from saltern.fleet.chains.room import Room
from saltern.fleet.chains.waves import ask_for_health, is_checked, move_waves

if TYPE_CHECKING:
    from saltern.fleet.chains.model import LegState, RunState, Verb

PAUSES: dict[Run, Callable[[RunState], bool]] = {
    Run.PAUSED: lambda run: True,  # noqa: ARG005
    Run.HALTED: lambda run: run.strategy.on_halt == "pause",
}
BEFORE = frozenset({Run.DRAFT, Run.AWAITING_APPROVAL, Run.SCHEDULED})


def advance(run: RunState, event: Event) -> tuple[RunState, tuple[Command, ...]]:
    """The run after an event, and the commands to carry out. The same event a second time changes nothing."""
    run = replace(run, now=max(run.now, event.now))
    after, said = READERS[type(event)](run, event)
    check_move(run.status, after.status)
    if not _matters(run, after, event):
        return after, said
    after, sent = _settle(after)
    return after, (*said, *sent, *_notes(run, after))


def _matters(run: RunState, after: RunState, event: Event) -> bool:
    """True if the event can have consequences. Most reports only bring the next step of a leg, and
    have none.
    """
    if isinstance(event, Reported):
        bound = run.strategy.lockstep or run.strategy.autonomy != "full" or _has_window(run, event.leg)
        return _leg_standing(run, event.leg) != _leg_standing(after, event.leg) or (
            bound and after is not run
        )
    return after is not run or isinstance(event, Tick)


def _leg_standing(run: RunState, name: str) -> tuple[Leg, bool] | None:
    leg = run.legs.get(name)
    return (leg.status, leg.away) if leg is not None else None


def _has_window(run: RunState, name: str) -> bool:
    leg = run.legs.get(name)
    return leg is not None and bool(leg.window_until)


def _settle(run: RunState) -> tuple[RunState, tuple[Command, ...]]:
    """Apply the stages repeatedly until nothing changes."""
    commands: list[Command] = []
    before = None
    while run is not before:
        before = run
        for stage in STAGES:
            after, more = stage(run)
            check_move(run.status, after.status)
            run = after
            commands += more
    return run, tuple(commands)


# -- stages -------------------------------------------------------------------------------------------


def _end_unsent(run: RunState) -> tuple[RunState, list[Command]]:
    """End at once a leg that should end and was never sent; one that was to be resumed ends as it had
    before.
    """
    gone = {
        leg.id: _ended_unsent(leg)
        for leg in run.legs.values()
        if leg.ending and leg.sent is None and not leg.is_over
    }
    return changed_legs(run, gone), []


def _ended_unsent(leg: LegState) -> LegState:
    ends = {"operator": Leg.CANCELLED, "deadline": Leg.EXPIRED, "window": Leg.FAILED}
    status = (leg.again and leg.again_from) or ends[leg.ending]
    ending = "deadline" if status is Leg.EXPIRED else leg.ending  # by which a late result is interpreted
    return replace(leg, status=status, ending=ending, again="")


def _halt(run: RunState) -> tuple[RunState, list[Command]]:
    limit = run.strategy.max_failures
    if run.status is not Run.RUNNING or limit is None:
        return run, []
    started = sum(leg.order > 0 for leg in run.legs.values())  # including those that are to be resumed
    failed = [leg.system for leg in run.legs.values() if is_failed(run, leg) and leg.id not in run.excused]
    if not limit.is_exceeded(len(failed), started):
        return run, []
    shown = f"{limit.number:g}%" if limit.percent else f"{limit.number:g}"
    why = f"{len(failed)} of {started} systems failed, more than {shown}: {', '.join(failed[:5])}"
    return replace(run, status=Run.HALTED, halted=why), []


def _send(run: RunState) -> tuple[RunState, list[Command]]:
    """Send each system its new order, if that differs from the last one."""
    room = Room(run)
    changed: dict[str, LegState] = {}
    commands: list[Command] = []
    for leg in _in_order(run):
        verb = _wanted_verb(run, leg)
        until = last_step(run, leg) if verb == "run" else leg.until
        if verb is None or until == NONE or not _is_new(leg, verb, until):
            continue
        if leg.sent is None and not room.take(leg):
            continue
        begun = run.now if leg.sent is None else leg.begun
        lease = max(1.0, leg.window_until - run.now) if verb == "run" and leg.window_until else 0.0
        sent = replace(_order(leg, verb, until), lease=lease)
        renewed = sent.number if leg.again and leg.sent is None else leg.renewed
        changed[leg.id] = replace(
            leg, sent=verb, order=sent.number, begun=begun, until=until, again="", renewed=renewed
        )
        changed[leg.id] = replace(changed[leg.id], leased=leg.window_until, not_before=0)
        commands.append(sent)
    return changed_legs(run, changed), commands


def _is_new(leg: LegState, verb: Verb, until: str) -> bool:
    """True if an order differs from the last one; an order to a working leg can only extend it."""
    if verb != "run" or leg.sent != "run":
        return (verb, until) != (leg.sent, leg.until)
    return is_further(leg, until) or (leg.status is Leg.WAITING and leg.window_until != leg.leased)


def _order(leg: LegState, verb: Verb, until: str) -> Send:
    """The order to send; a leg that is resumed begins with its operator's order."""
    again: Any = leg.again
    if leg.sent is None and again:
        return Send(leg=leg.id, number=leg.order + 1, verb=again, step=leg.again_step, until=until)
    return Send(leg=leg.id, number=leg.order + 1, verb=verb, until=until)


def _wanted_verb(run: RunState, leg: LegState) -> Verb | None:
    """What the system of a leg should do now; None: nothing new."""
    if leg.is_over or run.status in BEFORE or run.status in ENDS:
        return None
    if leg.ending:
        return "cancel"
    if leg.held or (run.status in PAUSES and PAUSES[run.status](run)):
        return "pause" if leg.sent is not None else None
    if leg.shut or leg.unfit:  # a waiting leg does not continue by itself
        return "pause" if leg.sent is not None and leg.status is not Leg.WAITING else None
    if leg.sent is not None:
        return "run"
    if run.now < leg.not_before:
        return None
    wave = run.waves[leg.wave].status
    opened = wave is Wave.RUNNING or (bool(leg.again) and wave is not Wave.PENDING)
    begins = run.status is Run.RUNNING or (bool(leg.again) and run.status is Run.HALTED)
    return "run" if opened and begins else None


def _in_order(run: RunState) -> Iterable[LegState]:
    return (run.legs[name] for wave in run.waves for name in wave.legs)


def _finish(run: RunState) -> tuple[RunState, list[Command]]:
    if run.status is Run.DRAFT or not all(leg.is_over for leg in run.legs.values()):
        return run, []
    if not is_checked(run):
        return run, []
    end = run_end(run)
    return (replace(run, status=end) if end is not run.status else run), []


def run_end(run: RunState) -> Run:
    """The status of a run whose legs are all over."""
    found = {leg.status for leg in run.legs.values()}
    if found <= ENDED_WELL:
        return Run.PARTIAL if any(wave.health == "failed" for wave in run.waves) else Run.SUCCEEDED
    if found & ENDED_WELL:
        return Run.PARTIAL
    if found & FAILURES and not (run.cancelled and Leg.CANCELLED in found):
        return Run.FAILED
    return Run.CANCELLED if Leg.CANCELLED in found else Run.EXPIRED


Stage = Callable[["RunState"], tuple["RunState", list[Any]]]
STAGES: tuple[Stage, ...] = (
    end_lost_legs,
    end_late_legs,  # first: a late leg counts as failed, and frees its place
    note_unfit,
    _end_unsent,
    retry_legs,  # before failures are counted: a leg that is retried has not failed yet
    _halt,  # before the waves: a run that halts opens none
    move_waves,
    ask_for_health,  # after the waves: a wave that has soaked is checked before the next begins
    _send,
    _finish,
)


def _notes(before: RunState, after: RunState) -> tuple[Note, ...]:
    """Record a run that halts, or whose end is corrected, with the reason."""
    if before.status is after.status:
        return ()
    if after.status is not Run.HALTED and before.status not in ENDS:
        return ()
    late = "a result came late" if after.status in ENDS else "an operator takes it up again"
    why = late if before.status in ENDS else after.halted
    return (Note(about=after.id, before=before.status.value, after=after.status.value, why=why),)
