"""The open segment of a leg as the journal of its run shows it, read once."""

from __future__ import annotations

from functools import cached_property

from saltern.chains.compile import state_id
from saltern.chains.legs import KnownLeg
from saltern.chains.results import Rows, begun_in, results
from saltern.chains.statuses import Step
from saltern.config.settings import Settings
from saltern.journal.barriers import Body
from saltern.journal.chunk_codec import chunks_in
from saltern.journal.report import report_of
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.language.diagnostics import OperationError
from saltern.system import ledger

LOST = "the journal of its run is damaged, so it is unknown whether the action was done"


class SegmentView:
    """The records of the run of the open segment; empty if there is no such run."""

    def __init__(self, known: KnownLeg, settings: Settings) -> None:
        segment = known.state.segment
        self._runs = Runs(settings)
        self._kinds = known.state.plan.kinds
        self._jid = segment.jid if segment is not None and segment.jid in self._runs.jids() else ""
        self._actions = tuple(segment.actions) if segment is not None and self._jid else ()
        self._run: RunState | None = None
        self._is_damaged = False
        if self._jid:
            self._read()

    def _read(self) -> None:
        try:
            self._run = self._runs.state(self._jid)
        except OperationError as problem:
            if problem.diagnostics[0].code != "journal-damaged":
                raise
            self._is_damaged = True

    @property
    def records(self) -> int:
        return self._run.records if self._run is not None else 0

    @cached_property
    def rows(self) -> Rows:
        """The actions that have ended, and their results."""
        if self._is_damaged:
            return {name: {"status": Step.INDETERMINATE.value, "comment": LOST} for name in self._actions}
        if self._run is None or not self._run.has_plan:
            return {}
        rows = results(report_of(self._run), self._actions, self._kinds)
        return {name: row for name, row in rows.items() if row["status"] != Step.NOT_RUN.value}

    @cached_property
    def begun_actions(self) -> dict[str, bool]:
        """The actions that have begun and not ended; True for those that are at work, even without our
        process.
        """
        run = self._run
        if run is None or not run.has_plan or run.is_over or run.open_barriers:
            return {}
        begun = begun_in(run)
        holder = self._runs.lock.holder()
        lives = holder is not None and holder.jid == self._jid
        lives = lives or bool(ledger.at_work(self._runs.kept_folder(self._jid)))
        return {name: lives for name in self._actions if state_id(name) in begun}

    @cached_property
    def barriers(self) -> dict[str, Body]:
        """The actions with a requested reboot or update that is not proven yet, and their requests."""
        run = self._run
        if run is None or not run.has_plan or run.is_over:
            return {}
        places = {body["place"]: body for body in run.open_barriers if not body["scope"]}
        chunks = chunks_in(run.scope("").plan, run.sources) if places else []
        asking = {chunks[place].id: body for place, body in places.items()}
        return {name: asking[state_id(name)] for name in self._actions if state_id(name) in asking}
