"""``saltern single``: one state, without any file."""

from __future__ import annotations

import sys

from saltern.cli.apply import exit_code
from saltern.cli.options import add_output, add_tree, call_arguments, output_options, parser, session
from saltern.language.diagnostics import Diagnostic, OperationError


def main(argv: list[str]) -> int:
    from saltern.report.outputs import write

    args_parser = parser("single", "Apply one state, such as: saltern single file.touch name=/tmp/x")
    args_parser.add_argument("function", metavar="STATE.FUN")
    args_parser.add_argument("args", nargs="*", metavar="ARG", help="the name, then k=v for each argument")
    args_parser.add_argument("--test", action="store_true", default=None, help="say what would change")
    add_tree(args_parser)
    add_output(args_parser, "highstate")
    args = args_parser.parse_args(argv)
    if "." not in args.function:
        raise OperationError(
            Diagnostic(code="state-unknown", what=f"{args.function!r} names no function; write STATE.FUN")
        )
    engine = session(args, test=args.test)
    from saltern.engine import single

    positional, keywords = call_arguments(args.args)
    name = str(keywords.pop("name", positional[0] if positional else args.function))
    report = single(engine, args.function, name, keywords)
    write(report, sys.stdout, output_options(args, engine.settings), args.out)
    return exit_code(report)
