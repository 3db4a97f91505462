"""Drives a leg: does what ``leg.decide`` says, and writes it down before and after.

Every effect has its intent on disk before it; what has happened is on disk before the next. So a process
that is killed anywhere is followed by one that does the same as it would have done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from saltern import durable
from saltern.chains import leg as steps
from saltern.chains.compile import plan_for
from saltern.chains.document import read_chain
from saltern.chains.leg import LegState, decide
from saltern.chains.legs import Journal, Known, Legs
from saltern.chains.render import actions_text
from saltern.chains.results import in_doubt, not_compiled, results, unknown
from saltern.chains.statuses import OVER, Leg, WrongMove
from saltern.config.settings import Settings
from saltern.engine import Request
from saltern.journal.report import report_of
from saltern.journal.runs import MOST_RESUMED, RESUMABLE, Runs
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.language.events import ChunkStarted, Event, Report

if TYPE_CHECKING:
    from saltern.runtime.ports import Recorder as Tell


LEAVING = {"rebooting": Leg.REBOOTING, "updating": Leg.UPDATING}  # a run's status → the leg's


class Order(Struct, frozen=True, kw_only=True):
    """What is asked for: a chain file for one system."""

    text: str
    file: str
    system: str
    pillar: dict[str, object] = {}


def start(settings: Settings, order: Order, tell: Tell | None = None, *, again: Sequence[str] = ()) -> Known:
    """Run a chain on this machine. The leg may not be over when this returns: the machine may go down.

    ``again`` are options for the command line of a build that takes over in the middle.
    """
    from saltern import __version__

    plan = plan_for(read_chain(order.text, order.file), order.system)
    if not plan.chunks:
        what = f"no action of the chain {plan.chain.name!r} is meant for {order.system!r}"
        fix = "name this machine among the targets, or say which one it is with --id"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    legs = Legs(settings)
    name = legs.new(durable.new_jid(time.time()))
    with legs.locked(name):
        if open_legs := legs.unfinished():
            raise _unfinished(open_legs[0])
        journal = Journal(legs, name)
        head = {
            "text": order.text,
            "file": order.file,
            "system": order.system,
            "settings": to_builtins(settings, enc_hook=str),
            "pillar": order.pillar,
            "version": __version__,
            "started": time.time(),
        }
        journal.add("accepted", **head)
        found = _Driver(settings, legs, name, tell, again).to_the_end()
    legs.prune()
    return found


def go_on(settings: Settings, name: str, tell: Tell | None = None, *, again: Sequence[str] = ()) -> Known:
    """Resume a leg that is not over."""
    legs = Legs(settings)
    known = legs.known(name)
    if known.state.status in OVER:
        raise _over(known)
    with legs.locked(name):
        return _Driver(settings, legs, name, tell, again).to_the_end()


def left_open(settings: Settings) -> list[str]:
    """The legs that a boot goes on with, in their order: not those that a user has stopped."""
    legs, runs = Legs(settings), Runs(settings)
    stopped = {one.jid for one in runs.summaries() if one.by_user or one.resumed >= MOST_RESUMED}
    return [
        one.id
        for one in reversed(list(legs.all()))
        if one.state.status not in (*OVER, Leg.PAUSED)
        and not (one.state.chunk is not None and one.state.chunk.jid in stopped)
    ]


def change(settings: Settings, name: str, kind: str, /, **body: object) -> Known:
    """An operator's word: retry, skip or cancel. Refused if the statuses do not allow it."""
    legs = Legs(settings)
    legs.known(name)
    with legs.locked(name):
        known = legs.known(name)
        _allowed(known, kind, body)
        journal = Journal(legs, name, known.state.records)
        journal.add(kind, **body)
        return legs.known(name)


def cancel(settings: Settings, name: str, reason: str) -> Known | None:
    """End a leg before its next step. None: its process was told to."""
    legs = Legs(settings)
    known = legs.known(name)
    if known.state.status in OVER:
        raise _over(known)
    if legs.holder() == name:
        legs.order_cancel(name, reason)
        return None
    with legs.locked(name):
        legs.order_cancel(name, reason)
        return _Driver(settings, legs, name, None).to_the_end()


def _allowed(known: Known, kind: str, body: dict[str, object]) -> None:
    """The fold is the judge: a record that it could not read is never written."""
    from copy import deepcopy

    action = body.get("action")
    if action is not None and action not in known.state.steps:
        from saltern.language.diagnostics import did_you_mean

        fix = did_you_mean(str(action), known.state.steps) or f"there are {', '.join(known.state.steps)}"
        raise OperationError(
            Diagnostic(code="chain-order", what=f"{known.id} has no action {action!r}", fix=fix)
        )
    try:
        steps.READERS[kind](deepcopy(known.state), body)
    except WrongMove as problem:
        raise OperationError(Diagnostic(code="chain-order", what=f"{known.id}: {problem}")) from None


class _Driver:
    """One leg, while this process has the lock."""

    def __init__(
        self, settings: Settings, legs: Legs, name: str, tell: Tell | None, again: Sequence[str] = ()
    ) -> None:
        self.legs, self.name, self.tell = legs, name, tell
        self.onward = ("--boot", *again)  # the run first, then the legs that are open
        self.head = legs.known(name).head
        self.settings = durable.session_as(settings, self.head).settings
        self.runs = Runs(self.settings)
        self.journal: Journal

    def to_the_end(self) -> Known:
        """Or to a point where this process has to end: a reboot, an update, an interrupt."""
        known = self.legs.known(self.name)
        self.journal = Journal(self.legs, self.name, known.state.records)
        if known.state.status in (Leg.PENDING, Leg.PAUSED):
            self.journal.add("begun", at=time.time(), pid=os.getpid())
        while self.step(self.look()):
            pass
        return self.legs.known(self.name)

    def look(self) -> LegState:
        if (reason := self.legs.cancel_ordered(self.name)) and not self.legs.known(self.name).state.cancelled:
            self.journal.add("cancel", reason=reason)
        return self.legs.known(self.name).state

    def step(self, state: LegState) -> bool:
        """Whether there is more to do here and now."""
        command = decide(state)
        if command is None:
            self.legs.order_done(self.name)
            return False
        return _DOERS[type(command)](self, command)

    # -- chunks ------------------------------------------------------------------------------------

    def begin(self, command: steps.Begin) -> bool:
        names = [action.id for action in command.actions]
        chunk = self.legs.known(self.name).state.plan.chunk_of(names[0])
        path = self.legs.chunk_path(self.name, chunk.name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(actions_text(command.actions))
        session = durable.session_as(self.settings, self.head)
        ask = durable.Ask(
            queue=self.settings.queue_runs,
            pillar=self.head["pillar"],
            begun=lambda jid: self.journal.add("chunk", jid=jid, actions=names, chunk=chunk.name),
        )
        try:
            report = durable.apply(session, Request(template=path), self.watched, ask)
        except CompileError as problem:
            self.journal.add("results", steps=not_compiled(names, str(problem)))
            return True
        return self.told(report.jid, names, report)

    def go_on(self, command: steps.GoOn) -> bool:
        """The run of a chunk was begun. It may be done, broken, or never have come as far as a plan."""
        jid, names = command.chunk.jid, list(command.chunk.actions)
        if jid not in self.runs.jids():
            return self.gone(jid, names)
        state = self.runs.state(jid)
        if not state.has_plan:
            self.journal.add("results", steps=results(Report(), names))
            return True
        if state.status in RESUMABLE and self.legs.cancel_ordered(self.name):
            return self.told(jid, names, report_of(state))
        if state.status in RESUMABLE:
            try:
                report = durable.resume(self.settings, jid, self.watched, onward=self.onward)
            except OperationError as problem:
                if problem.diagnostics[0].code != "run-not-resumable":
                    raise
                report = None  # another process has gone on with it while we waited
            if report is not None:
                return self.told(jid, names, report)
        return self.told(jid, names, report_of(self.runs.state(jid)))

    def gone(self, jid: str, names: list[str]) -> bool:
        """A run leaves no file before it acts. Has one been removed since, nobody knows what it did."""
        later = [one for one in self.runs.jids() if one > jid]
        if len(later) < self.settings.keep_runs:
            self.journal.add("results", steps=results(Report(), names))
            return True
        kinds = {action.id: action for action in self.legs.known(self.name).state.plan.steps}
        safe = {name: kinds[name].repeatable for name in names}
        self.journal.add("results", steps=unknown(safe))
        return True

    def told(self, jid: str, names: list[str], report: Report) -> bool:
        """A run that can be resumed is not over, unless the leg is cancelled."""
        state = self.runs.state(jid)
        status = state.status
        cancelled = self.legs.cancel_ordered(self.name)
        if status in RESUMABLE and cancelled:
            durable.abandon(self.settings, jid, cancelled)
        if status not in RESUMABLE or cancelled:
            plan = self.legs.known(self.name).state.plan
            barriers = {one.id for one in plan.steps if one.row.barrier}
            safe = {one.id for one in plan.steps if one.repeatable}
            told = results(report, names, barriers) | in_doubt(state, names, safe)
            self.journal.add("results", steps=told, jid=jid)
            return True
        if status in LEAVING:
            self.journal.add("left", status=LEAVING[status].value)
        return status == "updating"  # the new build takes over as soon as the run is gone on with

    def watched(self, event: Event) -> None:
        """Every step is an edge at which a leg can be cancelled."""
        if isinstance(event, ChunkStarted) and self.legs.cancel_ordered(self.name):
            raise KeyboardInterrupt
        if self.tell is not None:
            self.tell(event)

    def finish(self, command: steps.Finish) -> bool:
        self.journal.add("finished", status=command.status.value)
        return True


_DOERS: dict[type, Callable[[_Driver, Any], bool]] = {
    steps.Begin: _Driver.begin,
    steps.GoOn: _Driver.go_on,
    steps.Finish: _Driver.finish,
}


def _unfinished(name: str) -> OperationError:
    what = f"{name} is not over, and a machine does one chain at a time"
    fix = f"`saltern chain resume {name}` goes on with it, `saltern chain cancel {name}` ends it"
    return OperationError(Diagnostic(code="chain-busy", what=what, fix=fix))


def _over(known: Known) -> OperationError:
    what = f"{known.id} has {known.state.status.value}: nothing is left to do"
    fix = "`saltern chain retry` runs again what is not done"
    return OperationError(Diagnostic(code="chain-over", what=what, fix=fix))
