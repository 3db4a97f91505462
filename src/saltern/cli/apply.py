"""``saltern apply``: bring this machine to the state that the SLS files describe."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.from_options import session
from saltern.cli.options import (
    EXCLUDE_ROW,
    FAILHARD_ROW,
    ON_ROWS,
    PROFILE_ROW,
    REPORT_ROWS,
    STATE_ROWS,
    STRICT_ROW,
    TEST_ROW,
    TREE_ROWS,
    output_rows,
)
from saltern.cli.output import exit_code, follower_of, run_watched, seconds, write_report
from saltern.cli.values import mapping_value, yaml_value
from saltern.engine.request import Request
from saltern.language.diagnostics import Diagnostic, OperationError, SalternError
from saltern.report.outputs import options_for, problem_writer

if TYPE_CHECKING:
    from saltern.cli.profile import Profile
    from saltern.engine.apply import Prepared
    from saltern.engine.request import Request
    from saltern.engine.session import Session
    from saltern.language.events import Report
    from saltern.runtime.ports import EventSink

EPILOG = """\
examples:
  saltern apply web --file-root ./states
  saltern apply --test                       the highstate, without changing anything
  saltern apply web --out json | jq .
  saltern apply web.plan                     what `saltern plan web -o web.plan` has shown, and nothing else
  saltern apply web --on 'web*'              on the systems of the fleet that match

exit codes: 0 ok, 1 usage or environment, 2 a state failed, 3 the states do not compile,
4 something changed (with --detailed-exitcode), 5 the pillar does not compile,
6 the machine reboots, and the run continues afterwards; with --on the worst of all systems, and 7 if one
of them is away
"""


LINE = CommandLine(
    command="apply",
    about="Apply states to this machine. Without a name: the highstate, by the top file.",
    epilog=EPILOG,
    words=(
        Word(
            dest="sls",
            metavar="SLS",
            many=True,
            help="names of state files, such as web or web.nginx; patterns are allowed. Or a plan file",
        ),
    ),
    rows=(
        TEST_ROW,
        Row(
            flag="--only-id",
            dest="only_id",
            metavar="ID",
            help="only the states with this ID, and what they need",
        ),
        Row(flag="--template", dest="template", metavar="FILE", help="a state file outside the roots"),
        EXCLUDE_ROW,
        FAILHARD_ROW,
        STRICT_ROW,
        Row(
            flag="--detailed-exitcode",
            dest="detailed_exitcode",
            kind="on",
            help="exit with 4 when something changed or would change",
        ),
        Row(
            flag="--ask",
            dest="ask",
            kind="on",
            default=False,
            help="show the plan first, and apply it only after you have agreed",
        ),
        Row(
            flag="--queue",
            dest="queue",
            metavar="SECONDS",
            help="wait at most SECONDS for another run on this machine to end; 0 refuses at once",
        ),
        Row(
            flag="--failed-from",
            dest="failed_from",
            metavar="RUN",
            help="only what failed or was not reached in an earlier run (its number, or last), and what"
            " depends on it; name no SLS",
        ),
        Row(
            flag="--no-journal",
            dest="no_journal",
            kind="on",
            default=False,
            help="keep no journal: the run cannot be resumed, and is not listed by `saltern runs`",
        ),
        Row(
            flag="--check-idempotent",
            dest="check_idempotent",
            kind="on",
            default=False,
            help="apply twice, and fail if the second run changes something",
        ),
        Row(
            flag="--replan",
            dest="replan",
            kind="on",
            default=False,
            help="with a plan file: make a new plan, show it and save it; apply nothing",
        ),
        Row(
            flag="--verify",
            dest="verify",
            metavar="SIGNERS",
            help="with a plan file: apply it only if a key in this file (allowed_signers) has signed it",
        ),
        *TREE_ROWS,
        *output_rows("highstate"),
        *STATE_ROWS,
        Row(flag="--diff", dest="diff", kind="on", group="output", help="also show the content of new files"),
        *REPORT_ROWS,
        PROFILE_ROW,
        *ON_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.on is not None:
        from saltern.cli.on import run_on

        return run_on(LINE, args, argv)
    return apply(args)


def apply(args: SimpleNamespace) -> int:
    """Apply what was requested and print the report; return the exit code."""
    if len(args.sls) == 1 and os.path.isfile(args.sls[0]):  # rare: the word is usually an SLS name
        from saltern.cli.apply_plan import apply_file, is_meant

        if is_meant(args.sls[0]):
            return apply_file(args, args.sls[0], LINE.rows)
    if args.ask:
        from saltern.cli.confirm import ask_and_apply

        return ask_and_apply(args, request_of(args), LINE.rows)
    try:
        engine = _session(args)
        request = request_of(args)
        report = _apply(args, engine, request)
    except SalternError as problem:
        _problems_as_data(args, problem)
        raise
    code = exit_code(report, detailed=args.detailed_exitcode)
    if args.check_idempotent and code in (exits.OK, exits.CHANGED):
        from saltern.cli.second_run import is_idempotent

        second = _session(args)
        if not is_idempotent(args, second, lambda: run(args, second, request, None)):
            return exits.FAILED
    return code


def _session(args: SimpleNamespace) -> Session:
    return session(args, test=args.test, failhard=args.failhard, strict=args.strict, diff_new_files=args.diff)


def request_of(args: SimpleNamespace) -> Request:
    return Request(
        sls=tuple(name for word in args.sls for name in word.split(",") if name),
        saltenv=args.saltenv,
        exclude=read_exclusions(args.exclude),
        template=args.template,
        id=args.only_id,
    )


def _apply(args: SimpleNamespace, engine: Session, request: Request) -> Report:
    profile = None
    if args.profile:
        from saltern.cli.profile import Profile

        profile = Profile(engine)
    if args.failed_from and (request.sls or request.template or request.id or engine.settings.test):
        what = "--failed-from decides what is run: give no SLS, template, ID or --test with it"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    report = run_watched(args, lambda on_event: run(args, engine, request, on_event, profile))
    if report.stopped:
        from saltern.cli.after_pause import continue_paused

        return continue_paused(args, engine, report)
    write_report(args, engine, report)
    if profile is not None:
        profile.write(report, sys.stderr, colour=args.color)
    return report


def run(
    args: SimpleNamespace,
    engine: Session,
    request: Request,
    on_event: EventSink | None,
    profile: Profile | None = None,
) -> Report:
    """Prepare and execute a request. A test run changes nothing, so it needs no journal."""
    from saltern.engine.apply import execute

    if engine.settings.test or args.no_journal:
        return execute(_prepare(engine, request, profile), on_event=on_event)
    from saltern.durable.apply import JournalOptions, claim_run, failed_part

    options = JournalOptions(
        queue=seconds(args.queue, engine.settings.queue_runs),
        pillar=mapping_value("--pillar", args.pillar),
        job=follower.job if (follower := follower_of(args)) else "",
    )
    if args.failed_from:
        from saltern.cli.run_names import run_number
        from saltern.journal.runs import Runs

        earlier = run_number(Runs(engine.settings), args.failed_from)
        engine, request, options = failed_part(engine.settings, earlier, options)
    with claim_run(engine, request, options) as claimed:
        if follower:
            follower.claimed(claimed.jid)
        return claimed.execute(_prepare(engine, request, profile), on_event)


def _prepare(engine: Session, request: Request, profile: Profile | None) -> Prepared:
    """Compile a request. The result lives until the process ends, so the garbage collector, off until now,
    skips it.
    """
    import gc

    from saltern.engine.apply import prepare

    prepared = prepare(engine, request)
    gc.freeze()
    gc.enable()
    if profile is not None:
        profile.compiled()
    return prepared


def _problems_as_data(args: SimpleNamespace, problem: SalternError) -> None:
    """Print a failure to compile as data on stdout, as Salt does: scripts read it."""
    problem_writer(args.out)(problem.diagnostics, sys.stdout, options_for(sys.stdout, colour=args.color))


def read_exclusions(text: str | None) -> tuple[object, ...]:
    if not text:
        return ()
    value = yaml_value("--exclude", text)
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return tuple(value) if isinstance(value, list) else (value,)
