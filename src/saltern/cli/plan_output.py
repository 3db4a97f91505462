"""Print a plan, and write it to a file if requested."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.from_options import show_warnings
from saltern.report.outputs import options_for, write_data
from saltern.report.verdict import changed, failed
from saltern.system.signals import end_in_order

if TYPE_CHECKING:
    from saltern.engine.request import Request
    from saltern.engine.session import Session
    from saltern.language.events import Report
    from saltern.planfile.document import Proposal


def show(
    args: SimpleNamespace,
    engine: Session,
    request: Request,
    override: Mapping[str, object],
    save: str | None,
) -> int:
    """Make the plan, print it, and write it to the requested file."""
    from saltern.planfile.make import foresee, prepare_foresight, propose

    profile = None
    if args.profile:
        from saltern.cli.profile import Profile

        profile = Profile(engine)
    end_in_order()
    with redirect_stdout(sys.stderr):  # stdout is for the plan, so modules print to stderr
        prepared = prepare_foresight(engine, request)
        if profile is not None:
            profile.compiled()
        found = foresee(prepared)
    proposal = propose(engine, request, found, override)
    write_plan(args, proposal, found.report)
    if save:
        from saltern.planfile.document import save as keep

        written = keep(save, proposal)
        if key := getattr(args, "sign", None):
            _sign(save, written, key)
        print(f"saltern: saved as {save}; saltern apply {save} applies exactly this", file=sys.stderr)
    if profile is not None:
        profile.write(found.report, sys.stderr, colour=args.color)
    return _code(args, found.report)


def _sign(path: str, data: bytes, key: str) -> None:
    from saltern.planfile.signature import ENDING, sign
    from saltern.report.output_file import write_output

    write_output(path + ENDING, sign(data, key))


def _code(args: SimpleNamespace, report: Report) -> int:
    if failed(report):
        return exits.FAILED
    return exits.CHANGED if args.detailed_exitcode and changed(report) else exits.OK


def write_plan(args: SimpleNamespace, proposal: Proposal, report: Report) -> None:
    show_warnings(args, report.warnings)
    options = options_for(sys.stdout, colour=args.color)
    if args.out != "human":
        found = {"asked": proposal.asked, "totals": proposal.totals, "states": proposal.states}
        write_data(found, sys.stdout, options, args.out)
        return
    from saltern.report.proposal import write

    write(proposal.states, sys.stdout, options)
