"""The report of a run: while it happens, at its end, and as its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.from_options import output_options, show_warnings
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.colours import wanted
from saltern.report.outputs import write
from saltern.report.verdict import changed, failed
from saltern.runtime.barriers import INTERRUPTED, REBOOTING
from saltern.system import log
from saltern.system.signals import end_in_order

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.engine.session import Session
    from saltern.language.events import Event, Report
    from saltern.report.lines import Lines
    from saltern.report.live import Live
    from saltern.runtime.ports import EventSink
else:
    Protocol = object  # importing the real one is too slow


class Follower(Protocol):
    """A worker's view of a run that is the job ``job`` of a fleet."""

    job: str

    def follow(self, event: Event) -> None: ...

    def claimed(self, run: str) -> None:
        """The run has its number."""

    def paused(self, report: Report) -> None:
        """The machine reboots, and the run continues afterwards."""

    def reported(self, report: Report) -> None: ...


def follower_of(args: SimpleNamespace) -> Follower | None:
    """The worker that this command runs in; None on a command line."""
    found: Follower | None = getattr(args, "follower", None)
    return found


def exit_code(report: Report, *, detailed: bool = False) -> int:
    if report.stopped == INTERRUPTED:
        return exits.INTERRUPTED
    if report.stopped == REBOOTING:
        return exits.REBOOTING
    if failed(report):
        return exits.FAILED
    return exits.CHANGED if detailed and changed(report) else exits.OK


def seconds(text: str | None, usual: float) -> float:
    try:
        return usual if text is None else float(text)
    except ValueError:
        what = f"--queue needs a number of seconds, not {text!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what)) from None


def run_watched(args: SimpleNamespace, work: Callable[[EventSink | None], Report]) -> Report:
    """Do the work while the log, the terminal or stdout lines follow its events."""
    watchers, close = _watchers(args)
    args.seen = bool(watchers)
    end_in_order()
    try:
        with redirect_stdout(sys.stderr):  # stdout is for data, so modules print to stderr
            return work(_all(watchers))
    finally:
        for watcher in close:
            watcher.close()


def write_report(args: SimpleNamespace, engine: Session, report: Report) -> None:
    show_warnings(args, report.warnings)
    if follower := follower_of(args):
        follower.reported(report)
    _write(args, engine, report)


def _write(args: SimpleNamespace, engine: Session, report: Report) -> None:
    if args.out == "jsonl":
        return  # reported while it happened
    options = output_options(args, engine.settings)
    layout = [getattr(args, name, None) for name in ("state_output", "state_verbose")]
    seen = getattr(args, "seen", False) and not args.expand and layout == [None, None]
    shown = replace(options, expand=args.expand, sub_states=args.sub_states, seen=seen)
    write(report, sys.stdout, shown, args.out)
    if not report.answers and args.out in ("highstate", "quiet"):
        print("saltern: no states to run", file=sys.stderr)


def _watchers(args: SimpleNamespace) -> tuple[list[EventSink], list[Live | Lines]]:
    """The followers of a run's events: the log, an agent, the terminal, or the lines on stdout."""
    found, close = _viewers(args)
    if follower := follower_of(args):
        found = [follower.follow, *found]
    if log.is_on("info"):
        from saltern.report.log import write as log_event

        found = [log_event, *found]
    return found, close


def _viewers(args: SimpleNamespace) -> tuple[list[EventSink], list[Live | Lines]]:
    if args.out == "jsonl":
        from saltern.report.lines import Lines

        lines = Lines(sys.stdout)
        return [lines], [lines]
    if args.out == "highstate" and sys.stderr is not None and sys.stderr.isatty() and sys.stdout.isatty():
        from saltern.report.live import Live

        live = Live(sys.stderr, colour=wanted(sys.stderr, args.color), sub_states=args.sub_states)
        return [live], [live]
    return [], []


def _all(watchers: list[EventSink]) -> EventSink | None:
    if len(watchers) < 2:
        return watchers[0] if watchers else None

    def pass_on(event: Event) -> None:
        for watcher in watchers:
            watcher(event)

    return pass_on
