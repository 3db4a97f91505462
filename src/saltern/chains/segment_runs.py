"""Determines what the runs of a leg's segments have done, from their journals and ledgers."""

from __future__ import annotations

from saltern.config.settings import Settings
from saltern.journal.form import age
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.system import clock, keeper, ledger
from saltern.system.ledger import Kept
from saltern.system.waits import report_wait


class SegmentRuns:
    """Reads runs that may be damaged or removed, or whose programs may still run."""

    def __init__(self, settings: Settings, runs: Runs) -> None:
        self._settings = settings
        self._runs = runs

    def state(self, jid: str) -> RunState | None:
        """The state of the run of a segment; None if its journal is damaged."""
        if not self._runs.is_damaged(jid):
            return self._runs.state(jid)
        with self._runs.lock.hold(jid, clock.now(), wait=self._settings.queue_runs):
            if self._runs.is_damaged(jid):
                self._runs.put_aside(jid)
                return None
        return self._runs.state(jid)

    def may_be_removed(self, jid: str) -> bool:
        """True if the journal of this run may have been removed after many later runs."""
        later = [one for one in self._runs.jids() if age(one) > age(jid)]
        return len(later) >= self._settings.keep_runs

    def kept_programs(self, jid: str) -> Kept:
        """The results of programs that have outlived their run; waits for those that still run."""
        folder = self._runs.kept_folder(jid)
        if ledger.at_work(folder):
            report_wait(f"a program of run {jid} to end")
        keeper.wait_for(folder)
        return ledger.read(folder)
