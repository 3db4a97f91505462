"""Commands for a chain file: check it, and convert it to SLS and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.chain_file import read_text
from saltern.cli.chain_inputs import given_inputs
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.chains.compile import LegPlan
    from saltern.chains.document import Action, Chain
    from saltern.engine.session import Session


def _chain(args: SimpleNamespace, *, look: bool = False) -> Chain:
    """The chain of a file with its inputs; ``look``: missing inputs are allowed."""
    from saltern.chains.document import read_chain
    from saltern.chains.legs import read_secretly

    text = read_text(args.words[0])
    found = read_chain(text, args.words[0])
    given = given_inputs(args, found.inputs)
    return found if (look and not given) or not found.inputs else read_secretly(text, args.words[0], given)


def _plans(args: SimpleNamespace, engine: Session, *, look: bool = False) -> list[LegPlan]:
    """The plans of the requested systems, of the systems in the file, or of this machine."""
    from saltern.chains.compile import plan_for

    chain = _chain(args, look=look)
    report_unmatched(chain)
    systems = args.system or chain.systems() or [engine.settings.id]
    return [plan for plan in (plan_for(chain, system) for system in systems) if plan.segments]


def report_unmatched(chain: Chain) -> None:
    """Report each action target that matches none of the chain's systems."""
    from saltern.chains.targets import unmatched_actions

    for action, target in unmatched_actions(chain):
        what = f"action {action}: no system of the chain {chain.name!r} matches {target!r}"
        print(f"saltern: {what}, so that target has no effect", file=sys.stderr)


def check_command(args: SimpleNamespace, engine: Session) -> int:
    for plan in _plans(args, engine, look=True):
        for segment in plan.segments:
            print(f"{segment.name}: {_kinds(segment.steps)}")
        for name, segment in plan.handlers.items():
            print(f"if {name} fails: {_kinds(segment.actions)}")
        if plan.finalizers:
            print(f"finally: {_kinds(plan.finalizers)}")
    return exits.OK


def _kinds(actions: Sequence[Action]) -> str:
    return ", ".join(f"{one.id} ({one.kind})" for one in actions)


def render_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.render import SALT_NAMES, salt_module, segment_text

    plans = _plans(args, engine)
    texts = {
        os.path.join("actionchains", f"{segment.name}.sls"): segment_text(plan, segment)
        for plan in plans
        for segment in plan.segments
    }
    _report_losses(plans)
    if args.export is None:
        print(secrets.mask("\n".join(f"# {name}\n{text}" for name, text in texts.items())), end="")
        return exits.OK
    modules = {os.path.join("_modules", f"{name}.py"): salt_module(name) for name in SALT_NAMES}
    for name, text in {**texts, **modules}.items():
        _write(os.path.join(args.export, name), text)
        print(name)
    return exits.OK


def _report_losses(plans: list[LegPlan]) -> None:
    """Report what the segments leave out, once for all systems."""
    from saltern.chains.salt_losses import losses

    if found := list(dict.fromkeys(loss for plan in plans for loss in losses(plan))):
        print(f"saltern: left out, since only saltern does it: {', '.join(found)}", file=sys.stderr)


def _write(path: str, text: str) -> None:
    """Write a file that everyone may read, if it holds no secret."""
    from saltern.report.output_file import write_output

    private = secrets.holds(text)
    if private:
        what = f"{path} holds a secret input, and only its owner can read it"
        print(f"saltern: {what}; a Salt master sends it to every minion that asks", file=sys.stderr)

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as problem:
        what = f"{path} cannot be written: {problem.strerror}"
        raise OperationError(Diagnostic(code="chain-export", what=what)) from None
    write_output(path, text.encode(), mode=0o600 if private else 0o644)


def to_sls_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.compile import not_meant, plan_for
    from saltern.chains.render import state_text

    chain = _chain(args)
    report_unmatched(chain)
    plan = plan_for(chain, args.system[0] if args.system else engine.settings.id)
    if not plan.segments:
        raise not_meant(plan)
    print(secrets.mask(state_text(plan)), end="")
    return exits.OK


def from_sls_command(args: SimpleNamespace, _engine: Session) -> int:
    from saltern.chains.from_sls import chain_text
    from saltern.cli.chain_draft import name_of

    print(chain_text(read_text(args.words[0]), args.words[0], name_of(args.words[0])), end="")
    return exits.OK


def add_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.cli.chain_draft import add

    return add(args, engine)
