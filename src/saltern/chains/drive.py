"""Drives a leg: does what ``leg.decide`` says, and writes it down before and after.

Every effect has its intent on disk before it; what has happened is on disk before the next. So a process
that is killed anywhere is followed by one that does the same as it would have done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from saltern.chains import leg as steps
from saltern.chains.compile import state_id
from saltern.chains.leg import LegState, decide
from saltern.chains.legs import Journal, KnownLeg, Legs
from saltern.chains.order_files import CURRENT
from saltern.chains.owner import begin_anew, stamp
from saltern.chains.render import actions_text
from saltern.chains.results import called_off, in_doubt, not_compiled, refused, results, unknown
from saltern.chains.segment_runs import SegmentRuns
from saltern.chains.standing_orders import StandingOrders
from saltern.chains.statuses import ENDED_WELL, OVER, Leg, Step
from saltern.chains.turns import comes_its_turn, is_waiting
from saltern.config.settings import Settings
from saltern.durable.abandon import abandon
from saltern.durable.apply import JournalOptions, claim_run
from saltern.durable.head import restore_session
from saltern.durable.resume import resume
from saltern.engine.apply import prepare
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.language.events import ChunkStarted, Event, Report
from saltern.system import clock
from saltern.system.private import make_private
from saltern.system.regular import open_regular

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink, ResumeQuestion


HAND_OVER = 60.0  # seconds at most for the leg before it to let go of the lock
LEAVING = {"rebooting": Leg.REBOOTING, "updating": Leg.UPDATING}  # a run's status → the leg's


def resume_leg(
    settings: Settings,
    name: str,
    on_event: EventSink | None = None,
    *,
    again: Sequence[str] = (),
    question: ResumeQuestion | None = None,
    keep_pause: bool = False,
) -> KnownLeg:
    """Resume a leg that is not over; ``question`` is asked about interrupted states with ``resume: ask``.

    ``keep_pause``: it is resumed by a boot, so an order to pause it still stands.
    """
    legs, known = Legs(settings), readable(settings, name)
    if known.state.status in OVER:
        raise over(known)
    if is_waiting(known):
        return begin(settings, name, on_event, again=again, question=question)
    with legs.locked(name):
        if not keep_pause:
            legs.orders.remove(name, "pause")
        return _Driver(settings, legs, name, on_event, again, question).to_the_end()


def readable(settings: Settings, name: str) -> KnownLeg:
    """What is known of a leg; a damaged journal is put aside, which raises."""
    legs = Legs(settings)
    if name in legs.unknown():
        with legs.locked(name):
            legs.put_aside(name)
    return legs.known(name)


def begin(
    settings: Settings,
    name: str,
    on_event: EventSink | None = None,
    *,
    again: Sequence[str] = (),
    question: ResumeQuestion | None = None,
) -> KnownLeg:
    """Begin a leg that was accepted, when its turn has come."""
    legs = Legs(settings)
    if not comes_its_turn(legs, name):
        return drive(settings, name)  # which ends it, and runs nothing
    with legs.locked(name, wait=HAND_OVER):
        return _Driver(settings, legs, name, on_event, again, question).to_the_end()


def left_open(settings: Settings, of: str = "") -> list[str]:
    """The legs that a boot continues, in their order: not those that a user has stopped.

    ``of``: only the one that has this run as its segment.

    One that breaks again and again is among them: it ends, and says so.
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
    """Do what is to be done now; the lock of the leg is held."""
    return _Driver(settings, Legs(settings), name, on_event, again).to_the_end()


class _Driver:
    """One leg, while this process has the lock."""

    def __init__(
        self,
        settings: Settings,
        legs: Legs,
        name: str,
        on_event: EventSink | None,
        again: Sequence[str] = (),
        question: ResumeQuestion | None = None,
    ) -> None:
        self.legs, self.name, self.on_event, self.question = legs, name, on_event, question
        self.onward = ("chain", "resume", name, *again)  # the build that takes over continues the leg
        self.head = legs.known(name).head
        self.settings = self.session(settings).settings
        self.runs = Runs(self.settings)
        self.segment_runs = SegmentRuns(self.settings, self.runs)
        self.orders = StandingOrders(legs, name)
        self.again = again
        self.code = stamp()
        self.actions = {state_id(one.id): one.id for one in legs.known(name).state.plan.every}
        self.journal: Journal

    def session(self, settings: Settings) -> Session:
        """By the configuration that the leg was accepted with."""
        return restore_session(settings, self.head["settings"], self.head.get("pillar") or {})

    def to_the_end(self) -> KnownLeg:
        """Or to a point where this process has to end: a reboot, an update, an interrupt."""
        known = self.legs.known(self.name)
        self.journal = Journal(self.legs, self.name, known.state.records)
        self.take_up(known.state)
        while self.step(self.look()):
            pass
        return self.legs.known(self.name)

    def take_up(self, state: LegState) -> None:
        """Record that it begins or continues as planned, or that its process was gone, which is counted."""
        if state.status in OVER or self.is_over_before_begin(state):
            return
        replaced = state.status is Leg.UPDATING and state.segment is None
        if state.status in (Leg.PENDING, Leg.QUEUED, Leg.PAUSED, Leg.WAITING) or replaced:
            self.journal.add("begun", at=clock.now(), pid=os.getpid())
            return
        jid = state.segment.jid if state.segment else ""
        run = self.segment_runs.state(jid) if jid and jid in self.runs.jids() else None
        if run is None or run.status in ("broken", "unbegun"):
            self.journal.add("recovered", at=clock.now(), run=run.resumed if run else 0)

    def is_over_before_begin(self, state: LegState) -> bool:
        """Whether it waits for its turn, and ends there: by an order, or because its time is over."""
        if state.status is not Leg.QUEUED:
            return False
        return bool(self.legs.orders.reason(self.name, "cancel")) or isinstance(decide(state), steps.Finish)

    def look(self) -> LegState:
        state = self.legs.known(self.name).state
        if state.status in OVER:
            return state
        if (reason := self.legs.orders.reason(self.name, "cancel")) and not state.cancelled:
            self.journal.add("cancel", reason=reason)
            return self.legs.known(self.name).state
        reason = self.legs.orders.reason(self.name, "pause")
        if reason and not state.cancelled and state.status is Leg.RUNNING:  # not while the machine goes down
            self.journal.add("paused", reason=reason)
            return self.legs.known(self.name).state
        return state

    def step(self, state: LegState) -> bool:
        """Whether there is more to do here and now."""
        command = decide(state)
        if command is None:
            self.legs.orders.remove(self.name, "cancel", "pause", CURRENT)
            return False
        return _DOERS[type(command)](self, command)

    # -- segments ------------------------------------------------------------------------------------

    def begin(self, command: steps.Begin) -> bool:
        names = [action.id for action in command.actions]
        if self.head.get("owner") and stamp() != self.code:
            self.journal.add("left", status=Leg.UPDATING.value)
            begin_anew(self.name, self.again)
        segment = self.legs.known(self.name).state.plan.segment_of(names[0])
        path = self.legs.segment_path(self.name, segment.name)
        make_private(os.path.dirname(path))
        with os.fdopen(
            open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8"
        ) as file:
            file.write(actions_text(command.actions, self.name, last=command.last))
        session, request = self.session(self.settings), Request(template=path)
        options = JournalOptions(queue=self.settings.queue_runs, pillar=self.head["pillar"])
        jid = ""
        try:
            with claim_run(session, request, options) as claimed:
                jid = claimed.jid
                # From here on the run has a mark: if there is none later, its journal was lost.
                self.runs.announce(jid)
                self.journal.add("chunk", jid=jid, actions=names, chunk=segment.name, announced=True)
                report = claimed.execute(prepare(session, request), self.watch)
        except CompileError as problem:
            self.journal.add("results", steps=not_compiled(names, str(problem)))
            self.runs.withdraw(jid)
            return True
        return self.record_run(report.jid, names, report)

    def continue_run(self, command: steps.Continue) -> bool:
        """The run of a segment was begun. It may be done, broken, or never have come as far as a plan."""
        jid, names = command.segment.jid, list(command.segment.actions)
        if jid not in self.runs.jids():
            return self.record_missing_run(command.segment)
        state = self.segment_runs.state(jid)
        if state is None:
            return self.record_unknown(names)
        if not state.has_plan:
            self.journal.add("results", steps=results(Report(), names))
            return True
        if state.status in RESUMABLE and self.orders.is_cancelled():
            return self.record_run(jid, names, report_of(state))
        if state.status in RESUMABLE:
            try:
                report = resume(
                    self.settings,
                    jid,
                    self.watch,
                    again=self.onward,
                    ends=self.orders.is_cancelled,
                    question=self.question,
                )
            except KeyboardInterrupt:  # while it waited for a reboot
                if not self.orders.is_cancelled():
                    raise
                report = report_of(self.runs.state(jid))
            except OperationError as problem:
                if problem.diagnostics[0].code != "run-not-resumable":
                    raise
                report = None  # another process has continued it while we waited
            if report is not None:
                return self.record_run(jid, names, report)
        return self.record_run(jid, names, report_of(self.runs.state(jid)))

    def record_missing_run(self, segment: steps.OpenSegment) -> bool:
        """Record what the run of a segment has done that has no file. One that was announced has left a mark;
        without it, a run leaves no file before it acts. If one was removed since, what it did is unknown."""
        if not segment.announced and not self.segment_runs.may_be_removed(segment.jid):
            self.journal.add("results", steps=results(Report(), segment.actions))
            return True
        return self.record_unknown(segment.actions)

    def record_unknown(self, names: Sequence[str]) -> bool:
        plan = self.legs.known(self.name).state.plan
        kinds = {action.id: action for action in (*plan.steps, *plan.finalizers)}
        self.journal.add("results", steps=unknown({name: kinds[name].repeatable for name in names}))
        return True

    def record_run(self, jid: str, names: list[str], report: Report) -> bool:
        """Record how far a run has come. One that can be resumed is not over, unless the leg is cancelled."""
        state = self.runs.state(jid)
        status = state.status
        cancelled = self.orders.cancel_reason()
        if status not in RESUMABLE or cancelled:
            kept = self.segment_runs.kept(jid)
            said = abandon(self.settings, jid, cancelled) if status in RESUMABLE else ""
            plan = self.legs.known(self.name).state.plan
            safe = {one.id for one in plan.steps if one.repeatable}
            rows = results(report, names, plan.kinds)
            stopped = [name for name in names if rows[name]["status"] == Step.INDETERMINATE.value]
            rows |= in_doubt(state, names, safe, kept, stopped)
            rows |= called_off(state, names, said) if said else {}
            self.journal.add("results", steps=rows, jid=jid)
            return True
        if status in LEAVING:
            self.journal.add("left", status=LEAVING[status].value)
        # The new build takes over as soon as the run continues; a pause is recorded.
        return status == "updating" or self.orders.is_paused()

    def watch(self, event: Event) -> None:
        """Stop before a state if the leg is cancelled or paused; else pass the event on."""
        if isinstance(event, ChunkStarted) and (self.orders.is_cancelled() or self.orders.is_paused()):
            raise KeyboardInterrupt
        if isinstance(event, ChunkStarted) and event.chunk.id in self.actions and not event.frame:
            self.legs.orders.note_current(self.name, self.actions[event.chunk.id])
        if self.on_event is not None:
            self.on_event(event)

    def pause(self, command: steps.Pause) -> bool:
        self.journal.add("paused", reason=command.reason)
        return True

    def wait(self, _command: steps.Wait) -> bool:
        self.journal.add("waiting")
        return True

    def deny(self, command: steps.Deny) -> bool:
        self.journal.add("results", steps=refused(command.action, command.why))
        return True

    def quarantine(self, _command: steps.Quarantine) -> bool:
        """Record what its run has done, as far as that is known, and end it for good."""
        state = self.legs.known(self.name).state
        rows: dict[str, object] = {}
        if state.segment is not None and state.segment.jid in self.runs.jids():
            run, names = self.segment_runs.state(state.segment.jid), state.segment.actions
            if run is None:
                rows |= unknown(dict.fromkeys(names, False))
                self.journal.add("quarantine", steps=rows)
                return True
            if run.has_plan:
                kept = self.segment_runs.kept(state.segment.jid)
                rows |= results(report_of(run), names) | in_doubt(run, names, (), kept)
            abandon(self.settings, state.segment.jid, "it broke again and again")
        self.journal.add("quarantine", steps=rows)
        return True

    def finish(self, command: steps.Finish) -> bool:
        self.journal.add("finished", status=command.status.value)
        return True


_DOERS: dict[type, Callable[[_Driver, Any], bool]] = {
    steps.Begin: _Driver.begin,
    steps.Continue: _Driver.continue_run,
    steps.Pause: _Driver.pause,
    steps.Wait: _Driver.wait,
    steps.Deny: _Driver.deny,
    steps.Quarantine: _Driver.quarantine,
    steps.Finish: _Driver.finish,
}


def over(known: KnownLeg) -> OperationError:
    what = f"{known.id} has {known.state.status.value}: nothing is left to do"
    fix = f"`saltern chain retry {known.id}` runs again what is not done"
    if known.state.status in ENDED_WELL:
        fix = "to run the chain once more: `saltern chain run FILE`"
    return OperationError(Diagnostic(code="chain-over", what=what, fix=fix))
