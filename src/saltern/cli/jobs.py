"""``saltern jobs``: list the jobs of the fleet, the newest first."""

from __future__ import annotations

from itertools import islice

from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.connect import connect
from saltern.cli.fleet import show_rows
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="jobs",
    about="List the jobs of the fleet, the newest first.",
    epilog="`saltern job JID` shows one; `saltern runs` lists the runs of this machine.",
    words=(),
    rows=(
        Row(flag="--open", dest="open", kind="on", default=False, help="only those that have not ended"),
        Row(flag="--user", dest="user", metavar="USER", help="only those of this user"),
        Row(flag="--function", dest="function", metavar="FUNCTION", help="only those of this function"),
        Row(flag="--system", dest="system", metavar="SYSTEM", help="only those for this system"),
        Row(flag="--limit", dest="limit", metavar="NUMBER", default="25", help="how many (default: 25)"),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if not args.limit.isdecimal():
        what = f"--limit needs a whole number, not {args.limit!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    filters = {name: getattr(args, name) or "" for name in ("user", "function", "system")}
    with connect(args) as client:
        return show_rows(args, "jobs", islice(client.jobs.list(open=args.open, **filters), int(args.limit)))
