"""Watch over an update: if the new build does not start, restore the old build, which continues.

A separate program, started by the old build. It reads the journal: once the new build has recorded that
it has taken over, there is nothing to do.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

from msgspec import Struct

from saltern.config.settings import Settings
from saltern.durable.barriers.records import open_barriers
from saltern.journal.lock_file import lock_of_legs
from saltern.journal.runs import Runs
from saltern.language.diagnostics import SalternError
from saltern.system import build_slots, own_program
from saltern.system.boot import process_start
from saltern.system.faults import point

LOOK = 0.2
GRACE = 5.0
SECOND_CHANCE = 10.0  # minimum seconds for a build whose first process died


class Watch(Struct, frozen=True, kw_only=True):
    state_dir: str
    run: str
    pid: int
    started: str
    slots: str
    deadline: float

    @property
    def is_over(self) -> bool:
        """True if the journal has the result of the update."""
        try:
            return not open_barriers(Runs(Settings(state_dir=self.state_dir)).state(self.run), "update")
        except SalternError:
            return False

    @property
    def is_held(self) -> bool:
        """True if a process works on a run or a leg of this machine."""
        run = Runs(Settings(state_dir=self.state_dir)).lock.holder()
        return run is not None or lock_of_legs(self.state_dir).holder() is not None


def watch(task: Watch) -> None:
    end = time.monotonic() + task.deadline

    def lives() -> bool:
        return process_start(task.pid) == task.started != ""

    _until(lambda: task.is_over or not lives(), end)
    if not task.is_over and lives():
        _end_process(task.pid, lives)
        why = f"the new build did not take over within {task.deadline:g} seconds"
    elif not task.is_over:
        why = "the new build ended without taking over"
        _resume_run(task, max(end, time.monotonic() + SECOND_CHANCE))  # it may have been killed
    if task.is_over:
        return
    point("watchdog.back")
    build_slots.mark(task.slots, build_slots.ROLLED_BACK, task.run, why)
    build_slots.point_at(task.slots, "current", os.readlink(os.path.join(task.slots, "previous")))
    point("watchdog.switched")
    _resume_run(task, time.monotonic() + task.deadline)


def _until(done: Callable[[], bool], end: float) -> None:
    while not done() and time.monotonic() < end:
        time.sleep(LOOK)


def _end_process(pid: int, lives: Callable[[], bool]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        _until(lambda: not lives(), time.monotonic() + GRACE)


def _resume_run(task: Watch, end: float) -> None:
    """Resume the run with the current build, until the journal has the result of the update. If that ends
    because another process works on the run, wait for that process: it may take over.
    """
    while True:
        _start_build(task, end)
        if task.is_over or not task.is_held or time.monotonic() >= end:
            return
        _until(lambda: task.is_over or not task.is_held, end)


def _start_build(task: Watch, end: float) -> None:
    """Start the current build, which outlives us once it has taken over."""
    import subprocess

    is_ours = build_slots.running_in(task.slots, "current")
    make = own_program.environment if is_ours else own_program.environment_of_another
    env = make(SALTERN_STATE_DIR=task.state_dir)
    python = build_slots.python_of(task.slots)
    try:
        command = own_program.command("saltern", ("resume", task.run), python=python)
        child = subprocess.Popen(command, env=env, start_new_session=True)
    except OSError:
        return
    _until(lambda: task.is_over or child.poll() is not None, end)
    if not task.is_over and child.poll() is None:
        child.kill()
        child.wait()
    child.returncode = child.returncode or 0  # it may outlive us


def main(argv: list[str]) -> int:
    names = [word.removeprefix("--").replace("-", "_") for word in argv[::2]]
    given = dict(zip(names, argv[1::2], strict=True))
    watch(
        Watch(
            state_dir=given["state_dir"],
            run=given["run"],
            pid=int(given["pid"]),
            started=given["started"],
            slots=given["slots"],
            deadline=float(given["deadline"]),
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
