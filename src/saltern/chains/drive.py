"""Drives a leg: carries out the commands of ``decide``, and records them before and after.

Every effect is recorded on disk as an intent before it, and as done before the next one. So if a process is
killed at any point, the next process continues as the first one would have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from saltern.chains import decide as steps
from saltern.chains.decide import decide
from saltern.chains.leg import LegState
from saltern.chains.leg_work import LegWork
from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.order_files import CURRENT
from saltern.chains.results import refused_rows
from saltern.chains.segments import Segments
from saltern.chains.statuses import ENDED_WELL, OVER, Leg
from saltern.chains.turns import is_waiting, wait_for_turn
from saltern.config.settings import Settings
from saltern.journal.runs import Runs
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import clock

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink, ResumeQuestion


HAND_OVER = 60.0  # seconds to wait for the previous leg to release the lock


def resume_leg(
    settings: Settings,
    name: str,
    on_event: EventSink | None = None,
    *,
    again: Sequence[str] = (),
    question: ResumeQuestion | None = None,
    keep_pause: bool = False,
) -> KnownLeg:
    """Resume a leg that is not over; ``question`` is called for interrupted states with ``resume: ask``.

    ``keep_pause``: a boot resumes the leg, so an order to pause it stays in force.
    """
    legs, known = Legs(settings), readable(settings, name)
    if known.state.status in OVER:
        raise over(known)
    if is_waiting(known):
        return begin(settings, name, on_event, again=again, question=question)
    with legs.lock.hold(name):
        if not keep_pause:
            legs.orders.remove(name, "pause")
        return _Driver(LegWork(settings, legs, name, on_event, again, question)).to_the_end()


def readable(settings: Settings, name: str) -> KnownLeg:
    """Read a leg. A damaged journal is moved aside, and raises ``OperationError``."""
    legs = Legs(settings)
    if name in legs.unknown():
        with legs.lock.hold(name):
            legs.put_aside(name)
    return legs.load(name)


def begin(
    settings: Settings,
    name: str,
    on_event: EventSink | None = None,
    *,
    again: Sequence[str] = (),
    question: ResumeQuestion | None = None,
) -> KnownLeg:
    """Begin an accepted leg when its turn has come."""
    legs = Legs(settings)
    if not wait_for_turn(legs, name):
        return drive(settings, name)  # ends it without running anything
    with legs.lock.hold(name, wait=HAND_OVER):
        return _Driver(LegWork(settings, legs, name, on_event, again, question)).to_the_end()


def left_open(settings: Settings, of: str = "") -> list[str]:
    """The legs that a boot continues, in their order: not those that a user has stopped.

    ``of``: only the one that has this run as its segment.

    A leg that breaks repeatedly is among them; it ends with that reason.
    """
    legs, runs = Legs(settings), Runs(settings)
    stopped = {one.jid for one in runs.summaries() if one.by_user}
    return (legs.newest_unknown() if not of else []) + [
        one.id
        for one in reversed(list(legs.all()))
        if one.state.status not in (*OVER, Leg.PAUSED, Leg.WAITING)
        and not (one.state.segment is not None and one.state.segment.jid in stopped)
        and (not of or (one.state.segment is not None and one.state.segment.jid == of))
    ]


def drive(
    settings: Settings, name: str, on_event: EventSink | None = None, again: Sequence[str] = ()
) -> KnownLeg:
    """Do the next steps of the leg. The caller holds the lock of the leg."""
    return _Driver(LegWork(settings, Legs(settings), name, on_event, again)).to_the_end()


class _Driver:
    """Carries out the decisions about a leg while this process has its lock."""

    def __init__(self, work: LegWork) -> None:
        self.work, self.segments = work, Segments(work)

    def to_the_end(self) -> KnownLeg:
        """Drive the leg to its end, or until this process must end: a reboot, an update, an interrupt."""
        self.take_up(self.work.state)
        while self.step(self.look()):
            pass
        return self.work.legs.load(self.work.name)

    def take_up(self, state: LegState) -> None:
        """Record that the leg begins or continues as planned, or that its process was lost, which is
        counted.
        """
        if state.status in OVER or self.is_over_before_begin(state):
            return
        replaced = state.status is Leg.UPDATING and state.segment is None
        if state.status in (Leg.PENDING, Leg.QUEUED, Leg.PAUSED, Leg.WAITING) or replaced:
            self.work.journal.add("begun", at=clock.now(), pid=os.getpid())
            return
        jid = state.segment.jid if state.segment else ""
        run = self.work.segment_runs.state(jid) if jid and jid in self.work.runs.jids() else None
        if run is None or run.status in ("broken", "unbegun"):
            self.work.journal.add("recovered", at=clock.now(), run=run.resumed if run else 0)

    def is_over_before_begin(self, state: LegState) -> bool:
        """True if the leg ends while it waits for its turn: by an order, or because its time is over."""
        if state.status is not Leg.QUEUED:
            return False
        return bool(self.work.legs.orders.reason(self.work.name, "cancel")) or isinstance(
            decide(state), steps.Finish
        )

    def look(self) -> LegState:
        state = self.work.state
        if state.status in OVER:
            return state
        if (reason := self.work.legs.orders.reason(self.work.name, "cancel")) and not state.cancelled:
            self.work.journal.add("cancel", reason=reason)
            return self.work.state
        reason = self.work.legs.orders.reason(self.work.name, "pause")
        if reason and not state.cancelled and state.status is Leg.RUNNING:  # not while the machine goes down
            self.work.journal.add("paused", reason=reason)
            return self.work.state
        return state

    def step(self, state: LegState) -> bool:
        """Do one step; True if this process has more to do now."""
        command = decide(state)
        if command is None:
            self.work.legs.orders.remove(self.work.name, "cancel", "pause", CURRENT)
            return False
        return _DOERS[type(command)](self, command)

    def pause(self, command: steps.Pause) -> bool:
        self.work.journal.add("paused", reason=command.reason)
        return True

    def wait(self, _command: steps.Wait) -> bool:
        self.work.journal.add("waiting")
        return True

    def deny(self, command: steps.Deny) -> bool:
        self.work.journal.add("results", steps=refused_rows(command.action, command.why))
        return True

    def finish(self, command: steps.Finish) -> bool:
        self.work.journal.add("finished", status=command.status.value)
        return True


_DOERS: dict[type, Callable[[_Driver, Any], bool]] = {
    steps.Begin: lambda driver, command: driver.segments.begin(command),
    steps.Continue: lambda driver, command: driver.segments.continue_run(command),
    steps.Pause: _Driver.pause,
    steps.Wait: _Driver.wait,
    steps.Deny: _Driver.deny,
    steps.Quarantine: lambda driver, command: driver.segments.quarantine(command),
    steps.Finish: _Driver.finish,
}


def over(known: KnownLeg) -> OperationError:
    what = f"{known.id} has {known.state.status.value}: nothing is left to do"
    fix = f"`saltern chain retry {known.id}` runs again the actions that are not done"
    if known.state.status in ENDED_WELL:
        fix = "to run the chain once more: `saltern chain run FILE`"
    return OperationError(Diagnostic(code="chain-over", what=what, fix=fix))
