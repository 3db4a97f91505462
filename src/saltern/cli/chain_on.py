"""``saltern chain run FILE --on TARGET``: run the whole chain as one job; each system runs its leg."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import SimpleNamespace

from saltern.cli.arguments import CommandLine
from saltern.cli.connect import connect
from saltern.cli.on import run_on
from saltern.language.diagnostics import Diagnostic, OperationError

HERE = {"system": "--system", "reason": "--reason", "now": "--now"}


def run_chain_on(line: CommandLine, args: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run a chain verb that has ``--on``; return the exit code."""
    if args.via:
        from saltern.cli.chain_salt import run_via_salt

        return run_via_salt(args)
    from saltern.cli.chain_fleet import ask_fleet, start_run

    if args.on is None:
        return ask_fleet(args)
    _refuse(args)
    _check_targets(args)
    return run_on(line, args, argv) if args.roster else start_run(args)


def _refuse(args: SimpleNamespace) -> None:
    if args.verb != "run" or len(args.words) != 1:
        what = (
            f"saltern chain {args.verb} does not take --on" if args.verb != "run" else "name one chain file"
        )
        fix = "`saltern chain run FILE --on TARGET` prints the number of the run that the others take"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
    for name, flag in HERE.items():
        if getattr(args, name, None):
            what = f"{flag} cannot be used with chain run --on"
            raise OperationError(Diagnostic(code="option-shape", what=what, fix="leave one of them out"))


def _check_targets(args: SimpleNamespace) -> None:
    """Refuse a chain whose actions match none of the systems; report each action target that matches none."""
    from saltern.chains.document import read_chain
    from saltern.chains.targets import unmatched_actions
    from saltern.cli.chain_source import chain_text

    with connect(args) as client:
        chain = read_chain(chain_text(args.words[0], client), args.words[0])
        systems = client.systems.resolve(args.on)
    if systems and not any(action.meant_for(one) for action in chain.actions for one in systems):
        what = f"no action of the chain {chain.name!r} is for a system of {args.on!r}"
        fix = "add these systems to the targets of an action, or choose others with --on"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    for action, target in unmatched_actions(chain, systems):
        print(f"saltern: action {action}: no system of {args.on!r} matches {target!r}", file=sys.stderr)
