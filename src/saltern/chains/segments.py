"""The segments of a leg: each is one durable run, whose result is written to the journal of the leg."""

from __future__ import annotations

import os
from collections.abc import Sequence

from saltern.chains import decide as steps
from saltern.chains.leg import OpenSegment
from saltern.chains.leg_work import LegWork
from saltern.chains.owner import begin_anew, stamp
from saltern.chains.render import actions_text
from saltern.chains.results import called_off, in_doubt, not_compiled, results, unknown, with_crossings
from saltern.chains.statuses import Leg, Step
from saltern.durable.abandon import abandon
from saltern.durable.apply import JournalOptions, claim_run
from saltern.durable.resume import resume
from saltern.engine.apply import prepare
from saltern.engine.request import Request
from saltern.journal.report import report_of
from saltern.journal.summaries import RESUMABLE
from saltern.language.diagnostics import CompileError, OperationError
from saltern.language.events import Report
from saltern.system.private import make_private
from saltern.system.regular import open_regular

LEAVING = {"rebooting": Leg.REBOOTING, "updating": Leg.UPDATING}  # a run's status → the leg's


class Segments:
    """Begins and continues the runs of a leg. Methods return True if this process has more to do now."""

    def __init__(self, work: LegWork) -> None:
        self._work = work
        self._code = stamp()

    def begin(self, command: steps.Begin) -> bool:
        names = [action.id for action in command.actions]
        if self._work.head.get("owner") and stamp() != self._code:
            self._work.journal.add("left", status=Leg.UPDATING.value)
            begin_anew(self._work.name, self._work.again)
        segment = self._work.plan.segment_of(names[0])
        path = self._work.legs.segment_path(self._work.name, segment.name)
        make_private(os.path.dirname(path))
        with os.fdopen(
            open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8"
        ) as file:
            key = self._work.head.get("token") or self._work.name  # in a fleet, no other system uses this id
            file.write(actions_text(command.actions, key, last=command.last))
        session, request = self._work.session(self._work.settings), Request(template=path)
        options = JournalOptions(queue=self._work.settings.queue_runs, pillar=self._work.head["pillar"])
        jid = ""
        try:
            with claim_run(session, request, options) as claimed:
                jid = claimed.jid
                # The run has a mark from now on: if it is missing later, the journal was lost.
                self._work.runs.announce(jid)
                self._work.journal.add("chunk", jid=jid, actions=names, chunk=segment.name, announced=True)
                report = claimed.execute(prepare(session, request), self._work.watch)
        except CompileError as problem:
            self._work.journal.add("results", steps=not_compiled(names, str(problem)))
            self._work.runs.withdraw(jid)
            return True
        return self.record_run(report.jid, names, report)

    def continue_run(self, command: steps.Continue) -> bool:
        """Continue a run that was begun. It may have ended, or broken, even before it had a plan."""
        jid, names = command.segment.jid, list(command.segment.actions)
        if jid not in self._work.runs.jids():
            return self.record_missing_run(command.segment)
        state = self._work.segment_runs.state(jid)
        if state is None:
            return self.record_unknown(names)
        if not state.has_plan:
            self._work.journal.add("results", steps=results(Report(), names))
            return True
        if state.status in RESUMABLE and self._work.orders.is_cancelled():
            return self.record_run(jid, names, report_of(state))
        if state.status in RESUMABLE:
            try:
                report = resume(
                    self._work.settings,
                    jid,
                    self._work.watch,
                    again=self._work.onward,
                    ends=self._work.orders.is_cancelled,
                    question=self._work.question,
                )
            except KeyboardInterrupt:  # while it waited for a reboot
                if not self._work.orders.is_cancelled():
                    raise
                report = report_of(self._work.runs.state(jid))
            except OperationError as problem:
                if problem.diagnostics[0].code != "run-not-resumable":
                    raise
                report = None  # another process continued the run while this one waited
            if report is not None:
                return self.record_run(jid, names, report)
        return self.record_run(jid, names, report_of(self._work.runs.state(jid)))

    def record_missing_run(self, segment: OpenSegment) -> bool:
        """Record the results of a segment whose run has no journal. If it was announced, or journals were
        removed since, it is unknown what it did; otherwise it did nothing.
        """
        if not segment.announced and not self._work.segment_runs.may_be_removed(segment.jid):
            self._work.journal.add("results", steps=results(Report(), segment.actions))
            return True
        return self.record_unknown(segment.actions)

    def record_unknown(self, names: Sequence[str]) -> bool:
        plan = self._work.plan
        kinds = {action.id: action for action in plan.every}
        self._work.journal.add("results", steps=unknown({name: kinds[name].repeatable for name in names}))
        return True

    def record_run(self, jid: str, names: list[str], report: Report) -> bool:
        """Record how far a run has come. One that can be resumed is not over, unless the leg is cancelled."""
        state = self._work.runs.state(jid)
        status = state.status
        cancelled = self._work.orders.cancel_reason()
        if status not in RESUMABLE or cancelled:
            kept = self._work.segment_runs.kept_programs(jid)
            said = abandon(self._work.settings, jid, cancelled) if status in RESUMABLE else ""
            plan = self._work.plan
            safe = {one.id for one in plan.steps if one.repeatable}
            rows = with_crossings(state, results(report, names, plan.kinds))
            stopped = [name for name in names if rows[name]["status"] == Step.INDETERMINATE.value]
            rows |= in_doubt(state, names, safe, kept, stopped)
            rows |= called_off(state, names, said) if said else {}
            self._work.journal.add("results", steps=rows, jid=jid)
            return True
        if status in LEAVING:
            self._work.journal.add("left", status=LEAVING[status].value)
        # The new build takes over as soon as the run continues; a pause is recorded.
        return status == "updating" or self._work.orders.is_paused()

    def quarantine(self, _command: steps.Quarantine) -> bool:
        """Record what the run has done, as far as known, and end it permanently."""
        state = self._work.state
        rows: dict[str, object] = {}
        if state.segment is not None and state.segment.jid in self._work.runs.jids():
            run, names = self._work.segment_runs.state(state.segment.jid), state.segment.actions
            if run is None:
                rows |= unknown(dict.fromkeys(names, False))
                self._work.journal.add("quarantine", steps=rows)
                return True
            if run.has_plan:
                kept = self._work.segment_runs.kept_programs(state.segment.jid)
                rows |= results(report_of(run), names) | in_doubt(run, names, (), kept)
            abandon(self._work.settings, state.segment.jid, "it broke repeatedly")
        self._work.journal.add("quarantine", steps=rows)
        return True
