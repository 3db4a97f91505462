"""``saltern apply --ask``: show the plan, ask for confirmation, and apply exactly that plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import Row
from saltern.cli.from_options import session
from saltern.cli.values import mapping_value
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.temporary import private_directory

if TYPE_CHECKING:
    from saltern.engine.request import Request
    from saltern.planfile.document import Proposal

YES = frozenset({"y", "yes"})


def ask_and_apply(args: SimpleNamespace, request: Request, rows: Sequence[Row]) -> int:
    """Plan the request, and apply the plan if the person at the terminal agrees."""
    from saltern.cli.apply_plan import DECIDED, apply_file
    from saltern.planfile.document import save

    _check(args)
    _check_signers(args)
    proposal = _show_plan(args, request)
    if not any(number for kind, number in proposal.totals.items() if kind != "keep"):
        return exits.OK
    if not _agreed():
        print("saltern: nothing was applied", file=sys.stderr)
        return exits.SURROUNDINGS
    decided = {row.dest: row.default for row in rows if row.flag in DECIDED}
    with private_directory("ask") as folder:
        path = os.path.join(folder, "plan")
        save(path, proposal)
        given = {**vars(args), **decided}
        return apply_file(SimpleNamespace(**given), path, rows)


def _check(args: SimpleNamespace) -> None:
    clashing = [flag for flag in ("test", "failed_from", "replan", "no_journal") if getattr(args, flag)]
    if clashing:
        what = f"--ask and --{clashing[0].replace('_', '-')} exclude each other"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    if not sys.stdin.isatty():
        raise OperationError(
            Diagnostic(
                code="no-terminal",
                what="--ask needs a terminal to ask at",
                fix="leave out --ask, or save a plan with `saltern plan -o FILE` and apply the file",
            )
        )


def _check_signers(args: SimpleNamespace) -> None:
    """Refuse early if plans must be signed: a plan that is made and applied at once has no signature."""
    signers = args.verify or session(args).settings.plan_signers
    if not signers:
        return
    asks = "--verify" if args.verify else "plan_signers"
    raise OperationError(
        Diagnostic(
            code="plan-signature",
            what=f"--ask applies a plan that is not signed, but {asks} requires a signature from {signers!r}",
            fix="save a signed plan and apply it: saltern plan -o FILE --sign KEY; saltern apply FILE",
        )
    )


def _show_plan(args: SimpleNamespace, request: Request) -> Proposal:
    """Print the plan, and return it."""
    from saltern.cli.plan_output import write_plan
    from saltern.planfile.make import foresee, prepare_foresight, propose

    options = {"failhard": args.failhard, "strict": args.strict}
    engine = session(args, test=True, diff_new_files=True, **options)
    with redirect_stdout(sys.stderr):
        found = foresee(prepare_foresight(engine, request))
    proposal = propose(engine, request, found, mapping_value("--pillar", args.pillar))
    write_plan(SimpleNamespace(out="human", color=args.color), proposal, found.report)
    return proposal


def _agreed() -> bool:
    """True if the answer is yes; anything else, including the end of the input, is no."""
    sys.stdout.flush()
    print("Apply this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in YES
