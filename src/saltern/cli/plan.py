"""``saltern plan``: show what an apply would do, for approval."""

from __future__ import annotations

from types import SimpleNamespace

from saltern.cli.apply import LINE as APPLY
from saltern.cli.apply import request_of
from saltern.cli.arguments import CommandLine, Row, Word
from saltern.cli.from_options import session
from saltern.cli.here_or_on import run_here_or_on
from saltern.cli.options import ON_ROWS, PROFILE_ROW, TREE_ROWS
from saltern.cli.plan_output import show
from saltern.cli.values import mapping_value
from saltern.language.diagnostics import Diagnostic, OperationError

EPILOG = """\
examples:
  saltern plan web                    show the plan
  saltern plan web -o web.plan        save it
  saltern apply web.plan              apply exactly that, or refuse if anything has changed

exit codes: 0 ok, 1 usage or environment, 2 a state would fail, 3 the states do not compile,
4 something would change (with --detailed-exitcode), 5 the pillar does not compile
"""
OWN = ("--only-id", "--template", "--exclude", "--failhard", "--strict", "--detailed-exitcode")
REFRESH_ROW = Row(
    flag="--refresh",
    dest="refresh",
    kind="on",
    default=False,
    help="update the package lists first, as an apply would",
)
LINE = CommandLine(
    command="plan",
    about="Show what would be created, changed and deleted; change nothing. Without a name: the highstate.",
    epilog=EPILOG,
    words=(Word(dest="sls", metavar="SLS", many=True, help="names of state files; patterns are allowed"),),
    rows=(
        Row(flag="-o", dest="save", metavar="FILE", help="save the plan, for `saltern apply FILE`"),
        Row(
            flag="--sign",
            dest="sign",
            metavar="KEY",
            help="sign the plan that -o saves with this SSH key; the signature is FILE.sig",
        ),
        *(row for row in APPLY.rows if row.flag in OWN),
        REFRESH_ROW,
        *TREE_ROWS,
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            group="output",
            choices=("human", "json", "jsonl", "yaml"),
            default="human",
            help="human, json, jsonl, yaml (default: human)",
        ),
        *(row for row in APPLY.rows if row.flag in ("--color", "--no-color")),
        PROFILE_ROW,
        *ON_ROWS,
    ),
)


def main(argv: list[str]) -> int:
    return run_here_or_on(LINE, argv, run_here)


def run_here(args: SimpleNamespace) -> int:
    """Show what would change on this machine; return the exit code."""
    if args.sign and not args.save:
        what = "--sign needs a plan that is saved"
        raise OperationError(Diagnostic(code="plan-signature", what=what, fix="add -o FILE"))
    engine = session(
        args,
        test=True,
        failhard=args.failhard,
        strict=args.strict,
        diff_new_files=True,
        refresh_in_test=args.refresh,
    )
    return show(args, engine, request_of(args), mapping_value("--pillar", args.pillar), args.save)
