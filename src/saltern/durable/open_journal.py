"""The journal of one run, open while the run lasts, and what goes with it: kept programs, noticed effects."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from saltern.engine.build_plan import aggregates
from saltern.engine.session import Session
from saltern.journal.fold import RunState
from saltern.journal.recorder import Recorder
from saltern.journal.runs import Runs
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Report
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.report.verdict import failed
from saltern.runtime.barriers import INTERRUPTED, STOPS
from saltern.system import effects, keeper, ledger
from saltern.system.faults import point
from saltern.system.signals import was_terminated


@contextmanager
def open_journal(runs: Runs, jid: str, session: Session, past: RunState | None = None) -> Iterator[Recorder]:
    """Record a run. ``past`` is what an earlier process has recorded of it.

    While it is open, whatever is known is on disk before something acts, and programs are run by a process
    that outlives this one.
    """
    writer = runs.writer(jid, resumed_at=past.records if past else 0)

    def planner(chunks: Sequence[Chunk], rendered: Sequence[str]) -> Plan:
        return make_plan(chunks, rendered, Diagnostics(), aggregates(session, chunks))

    recorder = Recorder(writer, past, planner, session.caller.nature)
    if past is None:
        keeper.begin(jid, runs.kept_folder(jid))
    else:
        _wait_for_programs(runs, jid)
        keeper.take_up(jid, runs.kept_folder(jid))
    effects.before(recorder.sync)
    try:
        yield recorder
    finally:
        effects.before(None)
        keeper.end(forget=recorder.over)
        writer.close()


def _wait_for_programs(runs: Runs, jid: str) -> None:
    """Wait for the programs that a broken run has started: their results belong to the run that continues."""
    folder = runs.kept_folder(jid)
    if ledger.at_work(folder):
        print(f"saltern: a program of run {jid} is still running: waiting for its end", file=sys.stderr)
        keeper.wait_for(folder)


def end_journal(recorder: Recorder, report: Report) -> None:
    """Record that the run has ended, or that it pauses for a barrier."""
    effects.before(None)  # what is written from here on is the journal's own
    stopped = report.stopped
    if stopped in STOPS.values():
        recorder.pause()
        return
    if stopped == INTERRUPTED:
        stopped = "terminated" if was_terminated() else "interrupted"
    point("end")
    recorder.end(took=report.took, stopped=stopped, failed=failed(report))
