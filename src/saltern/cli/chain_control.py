"""Commands for a started chain of this machine: resume, retry, pause, cancel, status."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.chain_inputs import given_inputs
from saltern.cli.chain_output import drive_and_show, options_of, show, write_legs
from saltern.cli.run_names import LAST
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.chains.legs import KnownLeg
    from saltern.engine.session import Session
    from saltern.runtime.ports import EventSink


def resume_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import Legs

    legs = Legs(engine.settings)
    names = _given_run(args) or legs.unfinished_legs()[-1:] or legs.newest_unknown()
    if not names:
        print("saltern: no chain is running or paused; there is nothing to resume", file=sys.stderr)
        return exits.OK
    return _resume_leg(args, engine, names[0])


def _resume_leg(args: SimpleNamespace, engine: Session, name: str) -> int:
    from saltern.chains.drive import readable, resume_leg
    from saltern.cli.resume_question import ask_at_terminal

    def work(sink: EventSink) -> KnownLeg:
        return resume_leg(engine.settings, name, sink, again=options_of(args), question=ask_at_terminal)

    return drive_and_show(args, engine, readable(engine.settings, name).state.plan, work)


def retry_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import Legs
    from saltern.chains.orders import change, revise

    name = _run_name(args, engine)
    known = Legs(engine.settings).load(name)
    if new := given_inputs(args, known.state.plan.chain.inputs):
        revise(engine.settings, name, {**(known.head.get("pillar") or {}), **new})
    change(engine.settings, name, "retry")
    return _resume_leg(args, engine, name)


def skip_command(args: SimpleNamespace, engine: Session) -> int:
    return _vouch(args, engine, "skip", args.reason or "skipped by an operator")


def done_command(args: SimpleNamespace, engine: Session) -> int:
    if not args.reason:
        print("saltern chain done: explain with --reason how you know that it is done", file=sys.stderr)
        return exits.SURROUNDINGS
    return _vouch(args, engine, "done", f"marked as done by an operator: {args.reason}")


def _vouch(args: SimpleNamespace, engine: Session, kind: str, reason: str) -> int:
    from saltern.chains.orders import change

    *_, action = args.words
    name = _run_name(SimpleNamespace(words=args.words[:-1]), engine)
    return show(args, engine, change(engine.settings, name, kind, action=action, reason=reason))


def release_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.orders import change

    reason = args.reason or "released by an operator"
    return show(args, engine, change(engine.settings, _run_name(args, engine), "release", reason=reason))


def pause_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.orders import pause

    name = _run_name(args, engine)
    known = pause(engine.settings, name, args.reason or "paused by an operator")
    if known is None:
        print(f"saltern: {name} pauses before its next action", file=sys.stderr)
        return exits.OK
    return show(args, engine, known)


def cancel_command(args: SimpleNamespace, engine: Session) -> int:
    """Cancel a run; a process that works on it is notified, and ends before its next action."""
    from saltern.chains.orders import cancel

    name = _run_name(args, engine)
    known = cancel(engine.settings, name, args.reason or "cancelled by an operator", now=args.now)
    if known is None:
        when = "as soon as the running action has stopped" if args.now else "before its next action"
        print(f"saltern: {name} ends {when}", file=sys.stderr)
        return exits.OK
    return show(args, engine, known)


def _given_run(args: SimpleNamespace) -> list[str]:
    """The run that the words name; ``last`` counts as no name."""
    return [word for word in args.words if word != LAST]


def _run_name(args: SimpleNamespace, engine: Session) -> str:
    """The named run, or the last run if none is named."""
    from saltern.chains.legs import Legs

    found: list[str] = _given_run(args) or Legs(engine.settings).ids()[:1]
    if not found:
        raise OperationError(Diagnostic(code="chain-unknown", what="no chain has been run on this machine"))
    return found[0]


def status_command(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import UNKNOWN, KnownLeg, Legs
    from saltern.chains.show import HEAD, as_data, summary, unread

    legs = Legs(engine.settings)
    if args.words:
        return show(args, engine, legs.load(_run_name(args, engine)))
    found = [
        (leg, one)
        for leg, one in legs.looked_at()
        if isinstance(one, KnownLeg) or one.diagnostics[0].code in UNKNOWN
    ]
    if args.out != "nested":
        rows = [
            as_data(one, engine.settings) if isinstance(one, KnownLeg) else unread(leg) for leg, one in found
        ]
        return write_legs(args, engine, rows)
    lines = [summary(leg, one, at_work=legs.lock.holder() == leg) for leg, one in found]
    print("\n".join((HEAD, *lines)) if found else "no chain has been run")
    return exits.OK
