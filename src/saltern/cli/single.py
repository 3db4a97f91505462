"""``saltern single``: apply one state without a file."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from saltern.cli.arguments import CommandLine, Word, parse
from saltern.cli.from_options import output_options, session, show_warnings
from saltern.cli.options import ON_ROWS, STATE_ROWS, TEST_ROW, TREE_ROWS, output_rows
from saltern.cli.output import exit_code, follower_of
from saltern.cli.values import call_arguments
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import write

LINE = CommandLine(
    command="single",
    about="Apply one state, such as: saltern single file.touch name=/tmp/x",
    words=(
        Word(dest="function", metavar="STATE.FUN", help="the state"),
        Word(dest="args", metavar="ARG", many=True, help="the name, then k=v for each argument"),
    ),
    rows=(
        TEST_ROW,
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
    return apply_single(args, *call_arguments(args.args))


def apply_single(args: SimpleNamespace, positional: list[object], keywords: dict[str, object]) -> int:
    """Apply the state ``args.function`` and print its report; return the exit code."""
    if "." not in args.function:
        raise OperationError(
            Diagnostic(code="state-unknown", what=f"{args.function!r} is not a function; write STATE.FUN")
        )
    engine = session(args, test=args.test)
    from saltern.engine.single import single

    name = str(keywords.pop("name", positional[0] if positional else args.function))
    report = single(engine, args.function, name, keywords, args.saltenv)
    show_warnings(args, report.warnings)
    if follower := follower_of(args):
        follower.reported(report)
    write(report, sys.stdout, output_options(args, engine.settings), args.out)
    return exit_code(report)
