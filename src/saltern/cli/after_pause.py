"""A run that pauses: for a reboot, which ends this process, or for a build that replaces it."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli.arguments import Row
from saltern.cli.options import STATE_ROWS, TREE_ROWS, output_rows
from saltern.cli.output import follower_of, run_watched, write_report
from saltern.runtime.barriers import INTERRUPTED, REBOOTING, STOPS

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.language.events import Report
    from saltern.runtime.ports import EventSink

ROWS = (
    Row(flag="--sub-states", dest="sub_states", default="full", help=""),
    Row(flag="--expand", dest="expand", kind="on", help=""),
    Row(flag="--detailed-exitcode", dest="detailed_exitcode", kind="on", help=""),
    *TREE_ROWS,
    *output_rows("highstate"),
    *STATE_ROWS,
)


def continue_paused(args: SimpleNamespace, engine: Session, report: Report) -> Report:
    """Write the report of each pause, wait, and return the last report."""
    while report.stopped in STOPS.values():
        if report.stopped == REBOOTING:
            _show_pause(args, engine, report)
        try:
            report = _resume(args, engine, report.jid)
        except KeyboardInterrupt:
            return _called_off(engine, report)
    write_report(args, engine, report)
    return report


def _show_pause(args: SimpleNamespace, engine: Session, report: Report) -> None:
    if follower := follower_of(args):
        follower.paused(report)
    else:
        write_report(args, engine, report)
        _report_pause(report)


def _resume(args: SimpleNamespace, engine: Session, jid: str) -> Report:
    from saltern.cli.resume_question import ask_at_terminal
    from saltern.durable.resume import resume

    def work(on_event: EventSink | None) -> Report:
        report = resume(engine.settings, jid, on_event, again=options_again(args), question=ask_at_terminal)
        assert report is not None, "a run that pauses has something left"
        return report

    return run_watched(args, work)


def _called_off(engine: Session, report: Report) -> Report:
    """The report after an interrupt during the wait: interrupted, if the reboot could be cancelled."""
    from saltern.journal.runs import Runs

    if Runs(engine.settings).state(report.jid).status == "interrupted":
        report.stopped = INTERRUPTED
    return report


def _report_pause(report: Report) -> None:
    from saltern.system.services import is_installed

    sys.stdout.flush()
    print(f"saltern: run {report.jid}: {report.stopped}", file=sys.stderr)
    if not is_installed():
        print("saltern: nothing here resumes it at boot: run `saltern install-service`,", file=sys.stderr)
        print(f"  or `saltern resume {report.jid}` after the boot", file=sys.stderr)
    sys.stderr.flush()


def options_again(args: SimpleNamespace) -> list[str]:
    """The given options that `saltern resume` also has: for the build that takes over."""
    return [word for row in ROWS for word in _words(row, getattr(args, row.dest, row.default))]


def _words(row: Row, value: object) -> list[str]:
    if value == row.default or value is None or (row.kind == "on" and not value):
        return []
    if isinstance(value, list):
        return [word for one in value for word in (row.flag, str(one))]
    return [row.flag] if row.kind in ("on", "off") else [row.flag, str(value)]
