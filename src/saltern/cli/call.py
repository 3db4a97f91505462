"""``saltern call``: one execution function, as templates call it."""

from __future__ import annotations

import sys

from saltern.cli import exits
from saltern.cli.options import add_output, add_tree, call_arguments, output_options, parser, session
from saltern.language.diagnostics import Diagnostic, OperationError


def main(argv: list[str]) -> int:
    from saltern.report.outputs import write_data

    args_parser = parser("call", "Call one execution function, such as test.ping or pillar.get.")
    args_parser.add_argument("function", metavar="MOD.FUN")
    args_parser.add_argument("args", nargs="*", metavar="ARG", help="arguments, read as YAML; k=v for keywords")
    add_tree(args_parser)
    add_output(args_parser, "nested")
    args = args_parser.parse_args(argv)
    engine = session(args)
    engine.prepare()
    positional, keywords = call_arguments(args.args)
    try:
        value = engine.caller.function(args.function, positional, keywords)
    except LookupError as problem:
        raise OperationError(Diagnostic(code="function-unknown", what=str(problem.args[0]))) from None
    except Exception as problem:
        what = f"{args.function} failed: {type(problem).__name__}: {problem}"
        raise OperationError(Diagnostic(code="function-failed", what=what)) from None
    write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK
