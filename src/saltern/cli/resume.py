"""``saltern resume``: resume a broken run."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.apply import LINE as APPLY
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import session
from saltern.cli.options import ON_ROWS, STATE_ROWS, TREE_ROWS, output_rows
from saltern.cli.output import exit_code, run_watched
from saltern.cli.run_names import given_run
from saltern.journal.runs import Runs
from saltern.journal.summaries import resumed_at_boot
from saltern.language.diagnostics import SalternError
from saltern.language.events import Report
from saltern.runtime.barriers import PAUSES

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.runtime.ports import EventSink

OWN = ("--sub-states", "--expand", "--detailed-exitcode")
LINE = CommandLine(
    command="resume",
    about="Resume a broken run, at the first state that is not done. Without a name: the last run.",
    epilog="States that are done are not run again. A command that still runs is waited for; an ended one\n"
    "keeps its result. A command whose end is unknown counts as failed, unless its 'resume' says otherwise.",
    words=(Word(dest="run", metavar="RUN", many=True, help="its number in `saltern runs`, or `last`"),),
    rows=(
        Row(
            flag="--boot",
            dest="boot",
            kind="on",
            default=False,
            help="for init scripts: all broken runs, in their order; not runs that a user interrupted",
        ),
        *(row for row in APPLY.rows if row.flag in OWN),
        *TREE_ROWS,
        *output_rows("highstate"),
        *STATE_ROWS,
        *ON_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.on is not None:
        from saltern.cli.on import run_on

        return run_on(LINE, args, argv)
    return resume_named(args)


def resume_named(args: SimpleNamespace) -> int:
    """Resume the named run, or all broken runs; return the exit code."""
    if len(args.run) > 1:
        print("saltern resume: name one run", file=sys.stderr)
        return exits.SURROUNDINGS
    if args.run and _is_orchestration(args.run[0]):
        from saltern.cli.orchestrate import main as orchestrate

        return orchestrate(["--resume", "--out", args.out, "--", args.run[0]])
    engine = session(args)
    if args.boot:
        return _all(args, engine)
    code = _one(args, engine, given_run(args.run))
    if code is None:
        print("saltern: no run is broken; there is nothing to resume", file=sys.stderr)
    return code or exits.OK


def _is_orchestration(name: str) -> bool:
    """True if the name is that of an orchestration: its number has a letter, like that of a job."""
    return "T" in name[:9] and name[:1].isdigit()


def _one(args: SimpleNamespace, engine: Session, jid: str | None) -> int | None:
    """Resume one run; return the exit code, or None if there is nothing to resume."""
    from saltern.cli.after_pause import continue_paused, options_again
    from saltern.cli.resume_question import ask_at_terminal
    from saltern.durable.resume import resume

    found: list[Report] = []

    def work(on_event: EventSink | None) -> Report:
        report = resume(engine.settings, jid, on_event, again=options_again(args), question=ask_at_terminal)
        if report is not None:
            found.append(report)
        return report or Report()

    run_watched(args, work)
    args.seen = False  # the output of the earlier process was not shown here
    if not found:
        return None
    report = continue_paused(args, engine, found[0])
    code = exit_code(report, detailed=args.detailed_exitcode)
    return code if args.boot else max(code, _its_chain(engine, report))


def _its_chain(engine: Session, report: Report) -> int:
    """Continue the action chain that the run belongs to, if the run has ended; return the exit code."""
    return exits.OK if report.stopped in PAUSES else _chains(engine, of=report.jid)


def _all(args: SimpleNamespace, engine: Session) -> int:
    """Resume the named run first, then the others. A run that cannot be resumed does not stop the others."""
    from saltern.report.diagnostics import show

    worst = exits.OK
    due = resumed_at_boot(Runs(engine.settings).summaries())
    for jid in dict.fromkeys([*filter(None, [given_run(args.run)]), *due]):
        try:
            code = _one(args, engine, jid)
        except SalternError as problem:
            show(problem.diagnostics, sys.stderr, colour=False)
            if problem.diagnostics[0].code == "journal-failed":
                return exits.SURROUNDINGS  # the disk loses written data: stop here
            code = exits.SURROUNDINGS
        worst = max(worst, code or exits.OK)
    return max(worst, _chains(engine))


def _chains(engine: Session, of: str = "") -> int:
    """Resume action chains whose run has ended. ``of``: only the chain with this run."""
    from saltern.chains.drive import left_open, resume_leg
    from saltern.cli.chain_output import CODES
    from saltern.cli.resume_question import ask_at_terminal
    from saltern.report.diagnostics import show

    worst = exits.OK
    for name in left_open(engine.settings, of):
        try:
            ended = resume_leg(engine.settings, name, question=ask_at_terminal, keep_pause=not of)
            code = CODES.get(ended.state.status.value, exits.OK)
        except SalternError as problem:
            show(problem.diagnostics, sys.stderr, colour=False)
            code = exits.SURROUNDINGS
        worst = max(worst, code)
    return worst
