"""The journal of one run, open while the run lasts, with the keeper of its programs and its effects."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import convert, to_builtins

from saltern.engine.build_plan import aggregates
from saltern.engine.session import Session
from saltern.journal.form import KEY
from saltern.journal.recorder import Recorder
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.journal.store import Writer
from saltern.language import secrets
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Report
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.report.verdict import failed
from saltern.runtime.barriers import INTERRUPTED, STOPS
from saltern.system import effects
from saltern.system.faults import point
from saltern.system.keeper import ProgramKeeper, wait_for
from saltern.system.signals import was_terminated

if TYPE_CHECKING:
    from saltern.system.ledger import Entry


@contextmanager
def open_journal(runs: Runs, jid: str, session: Session, past: RunState | None = None) -> Iterator[Recorder]:
    """Record a run. ``past`` is what an earlier process recorded of it.

    While it is open, everything known is on disk before anything acts, and programs are run by a process
    that outlives this one.
    """
    writer = runs.writer(jid, resumed_at=past.records if past else 0)

    def planner(chunks: Sequence[Chunk], rendered: Sequence[str]) -> Plan:
        return make_plan(chunks, rendered, Diagnostics(), aggregates(session, chunks))

    programs = _open_programs(runs, jid, resumed=past is not None)
    if secrets.known():
        _conceal(_entry_sealer(writer))
    recorder = Recorder(writer, past, planner, session.registry.nature, programs)
    session.run.programs = programs
    effects.before(recorder.sync)
    try:
        yield recorder
    finally:
        effects.before(None)
        if secrets.known():
            _conceal(None)
        session.run.programs = None
        programs.end(forget=recorder.over)
        writer.close()


def _open_programs(runs: Runs, jid: str, *, resumed: bool) -> ProgramKeeper:
    """The keeper of the run's programs. For a resumed run, waits for programs that still run: their
    results belong to the run that continues."""
    folder = runs.kept_folder(jid)
    if not resumed:
        return ProgramKeeper(jid, folder)
    from saltern.system import ledger

    if ledger.at_work(folder):
        print(f"saltern: a program of run {jid} is still running: waiting for its end", file=sys.stderr)
        wait_for(folder)
    kept = ledger.read(folder)
    if kept.ended and os.path.exists(runs.path(jid) + KEY):
        from saltern.journal.seal import opened_data
        from saltern.system.ran import Ran

        opened = opened_data(to_builtins(kept.ended), runs.path(jid))
        kept.ended = convert(opened, dict[str, Ran])
    return ProgramKeeper(jid, folder, kept)


def _conceal(change: Callable[[Entry], object] | None) -> None:
    """Set what is done to entries about programs before they are written."""
    from saltern.system.ledger import Conceal

    Conceal.change = change


def _entry_sealer(writer: Writer) -> Callable[[Entry], object]:
    """Seals the output of programs, like the journal."""
    seal = writer.seal.open()
    return lambda entry: entry if entry.ran is None else seal.seal_body(to_builtins(entry))


def end_journal(recorder: Recorder, report: Report) -> None:
    """Record that the run has ended, or that it pauses for a barrier."""
    effects.before(None)  # from here on, writes are the journal's own
    stopped = report.stopped
    if stopped in STOPS.values():
        recorder.pause()
        return
    if stopped == INTERRUPTED:
        stopped = "terminated" if was_terminated() else "interrupted"
    point("end")
    recorder.end(took=report.took, stopped=stopped, failed=failed(report))
