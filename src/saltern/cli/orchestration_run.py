"""Begin or continue an orchestration: the run, its journal and its report."""

from __future__ import annotations

import os
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.apply import read_exclusions
from saltern.cli.options import SSH_ROWS
from saltern.cli.orchestration_fleet import (
    check_controller,
    controller_address,
    make_fleet,
    orchestration_settings,
)
from saltern.cli.orchestration_report import Reported, both
from saltern.cli.output import exit_code, run_watched, write_report
from saltern.cli.values import mapping_value
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.fleet.orchestration.folder import Note, Orchestrations, given_options
from saltern.fleet.orchestration.local import PARENT
from saltern.fleet.protocol.ids import is_jid, new_jid
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.language.events import Event, Report
    from saltern.runtime.ports import EventSink

RUNNING = "running"
LOOK = 0.5  # seconds between two polls of an orchestration that another process runs


def begin(args: SimpleNamespace) -> int:
    """Run a new orchestration, or continue the one with the number ``--jid``; return the exit code."""
    settings = orchestration_settings(args)
    kept = Orchestrations(settings)
    if args.jid and _has_begun(args.jid, kept, settings):
        return _continue(args, args.jid, kept, settings)
    if args.jid and not is_jid(args.jid):
        what = f"{args.jid!r} cannot be the number of an orchestration"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    if not args.roster:
        check_controller(args)
    note = Note(
        jid=args.jid or new_jid(time.time()),
        sls=tuple(name for word in args.sls for name in word.split(",") if name),
        controller="" if args.roster else controller_address(args),
        ssh=given_options(vars(args), (row.dest for row in SSH_ROWS)) if args.roster else {},
        parent=os.environ.get(PARENT) or None,
    )
    kept.add(note)
    engine = make_session(kept.settings(note.jid, settings), mapping_value("--pillar", args.pillar))
    fleet = make_fleet(args, note, engine)
    engine.run.orchestration = fleet
    print(f"saltern: orchestration {note.jid}", file=sys.stderr)
    with Reported(fleet, note, engine.settings) as reported:
        report = run_watched(args, lambda on_event: _run(args, engine, note, reported.follow(on_event)))
        resumable = reported.end(report)
    kept.prune(settings)
    return _finish(args, engine, report, note.jid if resumable else "")


def _run(args: SimpleNamespace, engine: Session, note: Note, on_event: EventSink | None) -> Report:
    from saltern.durable.apply import JournalOptions, claim_run
    from saltern.engine.apply import execute, prepare

    request = Request(sls=note.sls, saltenv=args.saltenv, exclude=read_exclusions(args.exclude))
    if engine.settings.test:
        return execute(prepare(engine, request), on_event=on_event)
    options = JournalOptions(pillar=mapping_value("--pillar", args.pillar), job=note.jid)
    with claim_run(engine, request, options) as claimed:
        return claimed.execute(prepare(engine, request), on_event)


def _finish(args: SimpleNamespace, engine: Session, report: Report, resumable: str = "") -> int:
    """Print the report; ``resumable`` is the number of an orchestration that has not ended."""
    write_report(args, engine, report)
    if resumable:
        print(f"saltern: `saltern orchestrate --resume {resumable}` continues it", file=sys.stderr)
    return exit_code(report, detailed=args.detailed_exitcode)


# -- earlier orchestrations -------------------------------------------------------------------------


def resume_named(args: SimpleNamespace, name: str) -> int:
    """Continue the named orchestration, or the last broken one; return the exit code."""
    settings = orchestration_settings(args)
    kept = Orchestrations(settings)
    jid = name if name != "last" else kept.last_broken(settings)
    if jid is None:
        print("saltern: no orchestration is broken; there is nothing to resume", file=sys.stderr)
        return exits.OK
    return _resume(args, jid, kept, settings)


def _resume(args: SimpleNamespace, jid: str, kept: Orchestrations, settings: Settings) -> int:
    from saltern.cli.resume_question import ask_at_terminal
    from saltern.durable.resume import resume

    note = kept.note(jid)
    for name, value in note.ssh.items():
        setattr(args, name, value)
    found: list[Session] = []
    reports: list[Reported] = []

    def attach(engine: Session) -> None:
        fleet = make_fleet(args, note, engine)
        engine.run.orchestration = fleet
        found.append(engine)
        reports.append(Reported(fleet, note, engine.settings))
        reports[0].begin()

    def hear(event: Event) -> None:
        reports[0].hear(event)

    def work(on_event: EventSink | None) -> Report:
        report = resume(
            kept.settings(jid, settings),
            None,
            both(hear, on_event),
            question=ask_at_terminal,
            prepare=attach,
        )
        if report is None:
            what = f"orchestration {jid} is not broken, or broke before it did anything"
            fix = "`saltern orchestrate --list` lists all"
            raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))
        return report

    report = run_watched(args, work)
    resumable = reports[0].end(report)
    args.seen = False  # the output of the earlier process was not shown here
    return _finish(args, found[0], report, jid if resumable else "")


def _has_begun(jid: str, kept: Orchestrations, settings: Settings) -> bool:
    """True if it has a plan, so something was done. Waits while another process runs it."""
    if jid not in kept.jids():
        return False
    known = kept.summary(jid, settings)
    while known is not None and known.status == RUNNING:
        time.sleep(LOOK)
        known = kept.summary(jid, settings)
    return known is not None and Runs(kept.settings(jid, settings)).state(known.jid).has_plan


def _continue(args: SimpleNamespace, jid: str, kept: Orchestrations, settings: Settings) -> int:
    """Resume a broken orchestration; show one that has ended."""
    from saltern.journal.report import report_of

    known = kept.summary(jid, settings)
    if known is None or known.status in RESUMABLE:
        return _resume(args, jid, kept, settings)
    own = kept.settings(jid, settings)
    return _finish(args, make_session(own), report_of(Runs(own).state(known.jid)))
