"""A job of the fleet while it runs: a live block on a terminal, plain lines elsewhere, or lines of JSON."""

from __future__ import annotations

import sys

from msgspec import to_builtins

from saltern.cli.watcher import Watcher
from saltern.fleet.protocol.notices import Notice
from saltern.fleet.view.board import Board
from saltern.report.text import tame


class Lines(Watcher):
    """``--out jsonl``: an object for each event, on standard output."""

    records = True

    def note(self, text: str) -> None:
        if sys.stderr is not None:  # else it would be among the lines of JSON
            print(f"saltern: {text}", file=sys.stderr)

    def record(self, event: str, **values: object) -> None:
        from saltern.report.salt import dumps

        print(tame(dumps({"event": event, **values}).decode()), flush=True)

    def record_notice(self, notice: Notice) -> None:
        values = to_builtins(notice)
        self.record(values.pop("kind"), **{name: value for name, value in values.items() if name != "number"})


def before_job(out: str) -> Watcher:
    """The watcher until there is a job."""
    return Watcher() if out == "quiet" else Lines()


def watcher_for(board: Board, out: str, colour: bool | None) -> Watcher:
    """The watcher that prints a job in this format."""
    if out == "jsonl":
        return Lines()
    if out == "quiet" or sys.stderr is None:
        return Watcher()
    from saltern.cli.watch_lines import Plain, Terminal
    from saltern.report.colours import is_terminal

    return Terminal(board, sys.stderr, colour) if is_terminal(sys.stderr) else Plain(board, sys.stderr)
