"""``saltern fleet demo``: a controller and five agents on this machine, without privileges."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.cli import exits
from saltern.cli.demo_tree import files
from saltern.cli.local_fleet import LocalFleet
from saltern.report.colours import is_terminal, painter, wanted
from saltern.system.signals import end_in_order

SYSTEMS = ("db1", "db2", "web1", "web2", "web3")
FIX = "systems/{}/certificate.pem"  # the file that the failing state requires
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Who is there?", ("fleet",)),
    ("Ask all of them at once. Equal answers are printed once.", ("call", "test.ping", "--on", "*")),
    ("What would change? Equal plans are printed once.", ("plan", "base", "--on", "*")),
    ("Apply the states of the top file. Two systems lack a certificate.", ("apply", "--on", "*")),
    ("The certificates are there now: once more for these two.", ("apply", "--on", "db*")),
)
AROUND = """\
Look around, in another terminal:

  export SALTERN_CONTROLLER={socket}
  saltern fleet                               who is there, what runs, what failed
  saltern jobs                                what was asked
  saltern job last --out highstate            what each system did
  saltern apply web --on 'web*' --test        the states are in {states}
  saltern call grains.get os --on 'E@db[12]'  any function, on any of them
  saltern events                              what happens, as it happens
"""


def demo(*, keep: bool = False, colour: bool | None = None, console: bool = False) -> int:
    """Set up the demo, show it, and remove it; return the exit code."""
    end_in_order()
    with _place() as directory:
        fleet = LocalFleet(directory)
        try:
            _set_up(fleet)
            if console:
                _open_console(fleet)
            else:
                _show(fleet, colour)
                _hold(fleet, keep)
        except KeyboardInterrupt:
            print("\nsaltern: interrupted", file=sys.stderr)
            return exits.INTERRUPTED
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C would leave processes behind
            print("saltern: removing the demonstration", file=sys.stderr)
            fleet.stop()
    return exits.OK


@contextmanager
def _place() -> Iterator[str]:
    directory = os.path.realpath(tempfile.mkdtemp(prefix="saltern-demo-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _set_up(fleet: LocalFleet) -> None:
    print(
        f"saltern: a controller and {len(SYSTEMS)} agents are starting in {fleet.directory}", file=sys.stderr
    )
    for path, text in files(os.path.join(fleet.directory, "systems")).items():
        fleet.write(f"controller/{path}", text)
    fleet.start(SYSTEMS)


def _show(fleet: LocalFleet, colour: bool | None) -> None:
    """Run each step: print what it is about, the command, and its output."""
    from saltern.cli.main import run

    paint = painter(wanted(sys.stdout, colour))
    for number, (about, words) in enumerate(STEPS):
        if number == len(STEPS) - 1:
            for name in SYSTEMS[:2]:
                fleet.write(FIX.format(name), "a certificate\n")
        shown = " ".join(f"'{word}'" if "*" in word else word for word in words)
        print(f"\n{paint(about, 'bold')}\n{paint(f'$ saltern {shown}', 'cyan')}", flush=True)
        code = run([*words, "--controller", fleet.socket])
        if code == exits.INTERRUPTED:
            raise KeyboardInterrupt
        print(paint(f"[exit {code}]", "grey") if code else "", flush=True)


def _open_console(fleet: LocalFleet) -> None:
    """Start the activity, print the guide, and wait for Ctrl-C."""
    from saltern.cli.console_demo import begin, guide

    begin(fleet)
    print(guide(fleet), flush=True)
    signal.pause()


def _hold(fleet: LocalFleet, keep: bool) -> None:
    """Print how to look around, and keep the demo running as long as a terminal can end it."""
    print(AROUND.format(socket=fleet.socket, states=fleet.states), flush=True)
    if is_terminal(sys.stdin):
        print("Press Enter to end and remove the demonstration.", flush=True)
        sys.stdin.readline()
    elif keep:
        signal.pause()
