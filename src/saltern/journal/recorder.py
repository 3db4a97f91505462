"""The journal of one run, from beginning to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.journal.body import Body
from saltern.journal.chunk_codec import plan_out
from saltern.journal.form import Record
from saltern.journal.run_journal import AT_RISK, RunJournal
from saltern.journal.run_state import INTERRUPTED, RunState
from saltern.plan.plan import Plan


class Recorder(RunJournal):
    """The runtime writes to it as a ``Journal``; ``durable`` begins and ends it."""

    over = False  # the run has ended and cannot be resumed

    @property
    def number(self) -> int:
        """The next run number when the run began or was resumed."""
        return self._state.number

    def begin(
        self,
        head: Mapping[str, object],
        plan: Plan,
        sources: Mapping[str, str],
        before: Sequence[tuple[str, Body]] = (),
    ) -> None:
        """Record, before anything acts: the request, the texts, and the plan.

        ``before`` are records of an earlier run that also count for this one.
        """
        self._writer.add("run", head)
        self._writer.add("sources", sources)
        self._writer.add("plan", plan_out(plan))
        self._hides = any(chunk.hidden for chunk in plan.chunks)
        for kind, body in before:
            self._writer.add(kind, body)
        self._state = _carried_state(before) if before else RunState()
        self._state.sources |= sources
        self._firm = True

    def resumed(self, head: Mapping[str, object]) -> None:
        from saltern.journal.fold import take_up

        self._writer.add("resumed", head)
        take_up(self._state, dict(head))
        self._unsure = AT_RISK if self._state.unsure else 0
        self._firm = True

    def plan(self) -> Plan:
        """The plan of a run when it began."""
        past = self.past
        assert past is not None
        return past.plan()

    def pause(self) -> None:
        """This process is about to end, but the run is not: make everything known survive a power loss."""
        self._firm = True
        self.sync()

    def end(self, *, took: float, stopped: str, failed: bool) -> None:
        hides = self._hides or _hides(self._state)
        if hides:
            self._writer.sync_if_begun()
        self._writer.add("end", {"took": took, "stopped": stopped, "failed": failed})
        self.over = stopped not in INTERRUPTED
        if stopped in INTERRUPTED:  # more will be written
            self._writer.sync()
        elif hides:
            from saltern.journal.hidden import without_hidden

            self._writer.rewrite(without_hidden)
        else:
            self._writer.finish()


def _carried_state(before: Sequence[tuple[str, Body]]) -> RunState:
    """The state that the records of an earlier run give."""
    from saltern.journal.fold import fold

    return fold(Record(0, kind, body) for kind, body in before)


def _hides(state: RunState) -> bool:
    if not state.scopes:
        return False
    from saltern.journal.hidden import hides

    return any(hides(scope.plan) for scope in state.scopes.values() if scope.plan)
