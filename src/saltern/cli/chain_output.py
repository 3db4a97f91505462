"""The output of ``saltern chain`` for a leg, and how its process stays with the leg."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from saltern.cli import exits
from saltern.cli.from_options import output_options
from saltern.language.events import ChunkStarted
from saltern.report.outputs import write_data
from saltern.system.signals import end_in_order, was_terminated

if TYPE_CHECKING:
    from saltern.chains.compile import LegPlan
    from saltern.chains.legs import KnownLeg
    from saltern.engine.session import Session
    from saltern.language.events import Event
    from saltern.runtime.ports import EventSink

# Exit codes by the status of a leg; one that still runs, or waits for its turn, was interrupted.
CODES = {
    "failed": exits.FAILED,
    "indeterminate": exits.FAILED,
    "cancelled": exits.FAILED,
    "expired": exits.FAILED,
    "paused": exits.FAILED,
    "rebooting": exits.REBOOTING,
    "running": exits.INTERRUPTED,
    "queued": exits.INTERRUPTED,
}


def drive_and_show(
    args: SimpleNamespace, engine: Session, plan: LegPlan, work: Callable[[EventSink], KnownLeg]
) -> int:
    """Run the leg, wait while the machine shuts down, and print the leg; return the exit code."""
    end_in_order()
    sink = _sink_for(args, plan, sys.stdout)
    known, code = _stay(args, engine, lambda: work(sink))
    name = known.id
    while known.state.status.value == "rebooting" and code is None:
        if args.out == "nested":
            show(args, engine, known)
            sys.stdout.flush()
        known, code = _stay(args, engine, lambda: _go_on(args, engine, name, sink))
    if code is None or args.out != "nested":
        show(args, engine, known)
    return CODES.get(known.state.status.value, exits.OK) if code is None else code


def _stay(
    args: SimpleNamespace, engine: Session, work: Callable[[], KnownLeg]
) -> tuple[KnownLeg, int | None]:
    """Run the leg. If this process is ended while it waits for a shutdown, and something else ended it, start
    a process that stays with the leg. Returns an exit code if the work was ended so, else None."""
    try:
        with redirect_stdout(sys.stderr):  # stdout is for data, so modules print to stderr
            return work(), None
    except KeyboardInterrupt:
        if not was_terminated() or (known := _rebooting_leg(engine)) is None:
            raise
        _leave_owner(args, known.id)
        return known, exits.REBOOTING


def _go_on(args: SimpleNamespace, engine: Session, name: str, sink: EventSink) -> KnownLeg:
    from saltern.chains.drive import resume_leg
    from saltern.cli.resume_question import ask_at_terminal

    return resume_leg(engine.settings, name, sink, again=options_of(args), question=ask_at_terminal)


def _rebooting_leg(engine: Session) -> KnownLeg | None:
    """The leg that waits for a reboot of this machine."""
    from saltern.chains.legs import Legs
    from saltern.chains.segment_view import SegmentView

    legs = Legs(engine.settings)
    open_legs = (legs.load(name) for name in legs.unfinished_legs())
    return next((one for one in open_legs if SegmentView(one, engine.settings).barriers), None)


def _leave_owner(args: SimpleNamespace, name: str) -> None:
    """Start a process that stays with the leg instead of this one: what ended us may not have been the
    reboot.
    """
    import subprocess

    from saltern.system import own_program, reboot

    if not reboot.is_real():
        return
    words = ("chain", "resume", name, *options_of(args))
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(
        own_program.command("saltern", words),
        env=own_program.environment(),
        start_new_session=True,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    )
    child.returncode = 0  # do not wait for it


def options_of(args: SimpleNamespace) -> list[str]:
    """The options of this command line that the leg's next process also needs."""
    from saltern.cli.after_pause import options_again

    return options_again(args)


def _sink_for(args: SimpleNamespace, plan: LegPlan, out: TextIO) -> EventSink:
    if args.out == "jsonl":
        from saltern.chains.formats import LiveLines

        return LiveLines(plan, out)
    return _progress


def _progress(event: Event) -> None:
    """Print a line on the terminal as each action begins."""
    if isinstance(event, ChunkStarted) and not event.held and sys.stderr.isatty():
        print(f"{event.chunk.id} …", file=sys.stderr)


def show(args: SimpleNamespace, engine: Session, known: KnownLeg) -> int:
    from saltern.chains.show import as_data, lines

    if args.out == "nested":
        print("\n".join(lines(known, engine.settings)))
        return exits.OK
    return write_legs(args, engine, as_data(known, engine.settings))


def write_legs(
    args: SimpleNamespace, engine: Session, value: dict[str, Any] | Sequence[dict[str, Any]]
) -> int:
    """Print one or several legs in the requested format."""
    legs = [value] if isinstance(value, dict) else list(value)
    if args.out == "junit":
        from saltern.chains.formats import write_junit

        write_junit(legs, sys.stdout, "chains")
    elif args.out == "jsonl":
        from saltern.chains.formats import write_lines

        for leg in legs:
            write_lines(leg, sys.stdout)
    else:
        write_data(value, sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK
