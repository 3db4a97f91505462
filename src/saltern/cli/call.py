"""``saltern call``: call one execution function, as templates do."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Word, parse
from saltern.cli.from_options import loaded_session, output_options
from saltern.cli.options import ON_ROWS, SECRETS_ROW, TREE_ROWS, output_rows
from saltern.cli.values import call_arguments
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, OperationError, words_of
from saltern.report.outputs import write_data

LINE = CommandLine(
    command="call",
    about="Call one execution function, such as test.ping or pillar.get.",
    words=(
        Word(dest="function", metavar="MOD.FUN", help="the function"),
        Word(dest="args", metavar="ARG", many=True, help="arguments, read as YAML; k=v for keywords"),
    ),
    rows=(*TREE_ROWS, *output_rows("nested"), SECRETS_ROW, *ON_ROWS),
)
# A command typed by a person is meant for a shell; one in a template is not.
IN_A_SHELL = frozenset({"cmd.run", "cmd.run_all", "cmd.run_stdout", "cmd.run_stderr", "cmd.retcode"})


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.on is not None:
        from saltern.cli.on import run_on

        return run_on(LINE, args, argv)
    return call(args, *call_arguments(args.args))


def call(args: SimpleNamespace, positional: list[object], keywords: dict[str, object]) -> int:
    """Call ``args.function`` and print its return value."""
    engine = loaded_session(args)
    if args.function in IN_A_SHELL:
        keywords.setdefault("python_shell", True)
    if engine.registry.function(args.function) is None:
        from saltern.modules.api.unknown_names import unknown_function

        why = unknown_function(engine.registry, args.function)
        what = f"no function is called {args.function!r}: {why}"
        raise OperationError(Diagnostic(code="function-unknown", what=what))
    try:
        value = engine.caller.function(args.function, positional, keywords)
    except (Exception, SystemExit) as problem:
        from saltern.modules.api.params import BadArgument

        kind = "" if isinstance(problem, BadArgument) else f"{type(problem).__name__}: "  # ours say all
        what = f"{args.function} failed: {kind}{words_of(problem)}"
        raise OperationError(Diagnostic(code="function-failed", what=what)) from None
    value = secrets.mask_all(value)
    write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK
