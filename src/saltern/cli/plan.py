"""``saltern plan``: what an apply would do, for a person to approve."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.apply import LINE as APPLY
from saltern.cli.apply import request_of
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import PROFILE_ROW, TREE_ROWS, mapping_value, session
from saltern.system.signals import end_in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from saltern.engine import Request
    from saltern.language.events import Report
    from saltern.proposals.document import Proposal
    from saltern.session import Session

EPILOG = """\
examples:
  saltern plan web                    look
  saltern plan web -o web.plan        keep it
  saltern apply web.plan              do exactly that, or refuse if the world has moved

exit codes: 0 ok, 1 usage or surroundings, 2 a state would fail, 3 the states do not compile,
4 something would change (with --detailed-exitcode), 5 the pillar does not compile
"""
OWN = ("--only-id", "--template", "--exclude", "--failhard", "--strict", "--detailed-exitcode")
LINE = CommandLine(
    command="plan",
    about="Show what would be created, changed and deleted; change nothing. Without a name: the highstate.",
    epilog=EPILOG,
    words=(Word(dest="sls", metavar="SLS", many=True, help="names of state files; patterns are fine"),),
    rows=(
        Row(flag="-o", dest="save", metavar="FILE", help="keep the plan, for `saltern apply FILE`"),
        *(row for row in APPLY.rows if row.flag in OWN),
        *TREE_ROWS,
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            group="output",
            choices=("human", "json"),
            default="human",
            help="human, json (default: human)",
        ),
        *(row for row in APPLY.rows if row.flag in ("--color", "--no-color")),
        PROFILE_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    engine = session(args, test=True, failhard=args.failhard, strict=args.strict)
    return show(args, engine, request_of(args), mapping_value("--pillar", args.pillar), args.save)


def show(
    args: SimpleNamespace,
    engine: Session,
    request: Request,
    override: Mapping[str, object],
    save: str | None,
) -> int:
    """Look, tell, and keep it where it is asked for."""
    from saltern.proposals.make import foresee, propose

    profile = None
    if args.profile:
        from saltern.cli.profile import Profile

        profile = Profile(engine)
    end_in_order()
    with redirect_stdout(sys.stderr):  # stdout is for the plan; a module's print is none of it
        found = foresee(engine, request)
    proposal = propose(engine, request, found, override)
    _write(args, proposal, found.report)
    if save:
        from saltern.proposals.document import save as keep

        keep(save, proposal)
        print(f"saltern: kept as {save}; saltern apply {save} does exactly this", file=sys.stderr)
    if profile is not None:
        profile.write(found.report, sys.stderr, colour=args.color)
    return _code(args, found.report)


def _code(args: SimpleNamespace, report: Report) -> int:
    from saltern.report.verdict import changed, failed

    if failed(report):
        return exits.FAILED
    return exits.CHANGED if args.detailed_exitcode and changed(report) else exits.OK


def _write(args: SimpleNamespace, proposal: Proposal, report: Report) -> None:
    from saltern.report.outputs import options_for

    if report.warnings:
        from saltern.report.colours import wanted
        from saltern.report.diagnostics import show

        show(report.warnings, sys.stderr, colour=wanted(sys.stderr, args.color))
    options = options_for(sys.stdout, colour=args.color)
    if args.out == "json":
        from saltern.report.salt import write_data

        told = {"asked": proposal.asked, "totals": proposal.totals, "states": proposal.states}
        write_data(told, sys.stdout, options)
        return
    from saltern.report.proposal import write

    write(proposal.states, sys.stdout, options)
