"""The machine with barriers as processes that can be killed at any moment, by those who do not know when.

A process is forked, and runs the command line as it is; what reboots the machine is a program that kills
whoever asks; a build that takes over is another program, and a watchdog looks after it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tests.e2e.command import _child, _environment
from tests.fault.crossing_machine import DOWN, VERSIONS, Boat, build_of

from saltern.system import reboot

OVER = ("nothing to resume", "nothing is left to do", "[chain-busy]")  # or others continue it
MOST = 400  # looks at a run that others go on with
TREE = Path(__file__).parents[2]
BUILD = """#!/bin/sh
while test "$1" != saltern; do shift; done
shift
exec {python} -m tests.fault.crossing_processes {base} "$@"
"""
REBOOT = """#!/bin/sh
touch {at}/armed
kill -9 $PPID
"""


def furnish(boat: Boat) -> None:
    """Programs for what is elsewhere a part of the test."""
    for slot in VERSIONS:
        python = boat.opt / slot / "bin" / "python"
        python.parent.mkdir(exist_ok=True)
        _program(python, BUILD.format(python=sys.executable, base=boat.base))
    _program(boat.base / "reboot", REBOOT.format(at=boat.at))
    kernel = boat.base / "root/proc/sys/kernel/random"
    kernel.mkdir(parents=True, exist_ok=True)
    (kernel / "boot_id").unlink(missing_ok=True)
    (kernel / "boot_id").symlink_to(boat.at / "boot")


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def launch(boat: Boat) -> int:
    """The process that comes next, as the leader of a group; its number."""
    argv = boat.place.argv(*boat.words())
    pid = os.fork()
    with suppress(OSError):  # whoever of the two comes first
        os.setpgid(pid, 0)
    if pid:
        return pid
    try:
        _live(boat.base, argv)
    finally:
        os._exit(99)


def _live(base: Path, argv: list[str]) -> NoReturn:
    at = base / "at"
    null = os.open(os.devnull, os.O_WRONLY)
    reboot.use(reboot.MachineRebooter([str(base / "reboot")], root=str(base / "root")))
    with build_of(at / "opt", whole=False) as build:
        env = {"BUILD": build, "PYTHONPATH": f"{TREE}:{TREE / 'src'}"}
        os._exit(_child(argv, [null, null], base, 0, _environment(base, env)))


def harass(boat: Boat, chance: random.Random, longest: float) -> list[str]:
    """Kill whoever goes on with it, once, twice or three times; what was done."""
    furnish(boat)
    told: list[str] = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        boat.boot_if_asked()
        if boat.over():
            break
        moment, group = chance.uniform(0, longest), chance.random() < 0.3
        pid = launch(boat)
        time.sleep(moment)
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        told.append(f"{'its group' if group else 'it'} after {moment:.3f} s")
    return told


def to_the_end(boat: Boat) -> None:
    """Somebody else may be at it: a watchdog goes on with a run, too."""
    for _ in range(MOST):
        boat.settle()
        if boat.over() and not _others(boat):
            return
        boat.boot_if_asked()
        done = boat.run(*boat.words())
        known = done.code in (DOWN, *boat.codes) or any(word in done.err for word in OVER)
        assert known, f"{done.code}: {done.err}"
        time.sleep(0.02)
    raise AssertionError("it does not end")


def _others(boat: Boat) -> bool:
    """Watchdogs, and what they have started."""
    found = [Path(entry, "cmdline") for entry in os.scandir("/proc") if entry.name.isdigit()]
    return any(str(boat.base) in _text(path) for path in found)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    _live(Path(sys.argv[1]), sys.argv[2:])
