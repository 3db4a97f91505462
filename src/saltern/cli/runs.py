"""``saltern runs``: list the runs of this machine, and which can be resumed."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from msgspec import to_builtins

from saltern.cli import exits
from saltern.cli.arguments import CommandLine
from saltern.cli.from_options import output_options, session
from saltern.cli.here_or_on import run_here_or_on
from saltern.cli.options import ON_ROWS, TREE_ROWS, output_rows
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE, Summary
from saltern.system.clock import stamp

LINE = CommandLine(
    command="runs",
    about="List the runs of this machine, the newest first.",
    epilog="`saltern resume` continues a broken run; `saltern show run ID` shows what was done.",
    words=(),
    rows=(*TREE_ROWS, *output_rows("nested"), *ON_ROWS),
)
WIDTH = "{:<22}{:<13}{:<21}{:>10}{:>8}{:>9}{:>8}  {}"
HEAD = WIDTH.format("run", "status", "started (UTC)", "took", "states", "changed", "failed", "asked for")


def main(argv: list[str]) -> int:
    return run_here_or_on(LINE, argv, run_here)


def run_here(args: SimpleNamespace) -> int:
    """List the runs of this machine; return the exit code."""
    engine = session(args)
    found = list(Runs(engine.settings).summaries())
    if args.out == "nested":
        _print(found)
    else:
        from saltern.report.outputs import write_data

        write_data(to_builtins(found), sys.stdout, output_options(args, engine.settings), args.out)
    return exits.OK


def _print(found: list[Summary]) -> None:
    if not found:
        print("no runs yet")
        return
    print(HEAD)
    for one in found:
        started = stamp(one.started) if one.started else ""
        took = f"{one.took:.1f} s" if one.took else ""
        print(WIDTH.format(one.jid, one.status, started, took, one.done, one.changed, one.failed, one.asked))
    if any(one.status in RESUMABLE for one in found):
        print("\nsaltern resume [RUN] continues a run that is broken or interrupted")
