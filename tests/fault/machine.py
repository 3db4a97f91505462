"""A machine that can be broken at any named point, and what must be true of it afterwards."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

from msgspec import json
from tests.e2e.command import Done, Place
from tests.fault.reference import FILES
from tests.large_pages import keep_for_forks

from saltern.config.settings import Settings
from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE, Summary
from saltern.report.salt import to_dict
from saltern.system import faults, ledger, reboot

Told = dict[str, dict[str, object]]
Watch = Callable[[str], None]
MEMORY = "/dev/shm"  # where a sync costs nothing; what is lost is decided here, and not by the kernel
AT_MOST = 8  # resumes until a run must have ended
BLOCKED = ("guarded", "after-caller", "told")  # they need a command that may be indeterminate


class Machine:
    """A fresh machine. ``watch`` is called in the process that runs, at every point."""

    def __init__(self, base: Path, files: Mapping[str, str] = FILES) -> None:
        self.base = base
        self.place = Place(base).write(files)
        self.at = base / "at"
        self.at.mkdir()
        self.runs = base / "runs" / "runs"
        (base / "etc").mkdir()
        (base / "etc" / "saltern.yaml").write_text("queue_runs: 20\n")
        self.settings = Settings(state_dir=str(base / "runs"))
        self.boots = Boots()

    def apply(self, watch: Watch | None = None, *more: str) -> Done:
        return self._run(watch, "apply", "main", "--pillar", f"{{at: {self.at}}}", "--out", "json", *more)

    def resume(self, watch: Watch | None = None, *more: str) -> Done:
        return self._run(watch, "resume", "--out", "json", *more)

    def _run(self, watch: Watch | None, *words: str) -> Done:
        faults.watch(only_here(watch) if watch else None)
        reboot.use(self.boots)
        try:
            return self.place.run(*words)
        finally:
            reboot.use(None)
            faults.watch(None)

    def finish(self) -> Told:
        """Resume until there is nothing to resume; what the journal then tells."""
        if not any(one.done for one in self.summaries()) and not self.broken():
            assert not self.log(), "something was done, and no run knows it"
            again = self.apply()
            assert again.code == 2, again.err
        for _ in range(AT_MOST):
            if not self.broken():
                return self.shown()
            done = self.resume()
            assert done.code == 2, f"{done.code}: {done.err}"
        raise AssertionError("the run does not end")

    def quiet(self) -> None:
        """Wait for what a killed run has left at work: a machine without power has nothing."""
        runs = Runs(self.settings)
        holder, kept = runs.lock.holder, self.runs.glob
        while holder() is not None or any(ledger.at_work(str(one)) for one in kept("*.kept")):
            time.sleep(0.01)

    def summaries(self) -> list[Summary]:
        return list(Runs(self.settings).summaries())

    def broken(self) -> bool:
        return any(one.status in RESUMABLE for one in self.summaries())

    def shown(self) -> Told:
        """The last run, by its journal, without the place of this machine."""
        runs = Runs(self.settings)
        text = json.encode(to_dict(report_of(runs.state(runs.jids()[0])))).decode()
        return json.decode(text.replace(str(self.base), "BASE"), type=Told)

    def log(self) -> Counter[str]:
        """How often each command was started."""
        path = self.at / "log"
        return Counter(path.read_text().split()) if path.exists() else Counter()

    def journal(self) -> Path:
        (found,) = self.runs.glob("*.run")
        return found


def only_here(watch: Watch) -> Watch:
    """Not in the processes that the engine forks, which a crash of it does not end."""
    forked: list[int] = []
    busy: list[str] = []

    def tell(name: str) -> None:
        forked[:] = forked or [os.getpid()]
        if forked[0] == os.getpid() and not busy:  # what a watch does passes points, too
            busy.append(name)
            try:
                watch(name)
            finally:
                busy.clear()

    return tell


@contextmanager
def machine(files: Mapping[str, str] = FILES) -> Iterator[Machine]:
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-fault-", dir=folder, ignore_cleanup_errors=True) as base:
        yield Machine(Path(base), files)


@cache
def reference() -> tuple[Told, Counter[str]]:
    """What the run comes to that nobody breaks. All it imports is imported here, for those that follow."""
    with machine() as one:
        names = one.base / "modules"
        with open(names, "ab", buffering=0) as out:
            done = one.apply(lambda _: _write(out, " ".join(sys.modules)))
        assert done.code == 2, done.err
        import_all(names)
        return one.shown(), one.log()


def import_all(names: Path) -> None:
    """What a child has imported need not be imported by each of those that follow."""
    for name in set(names.read_text().split()) - sys.modules.keys():
        if not name.startswith(("__", "saltern_user", "salt.")):
            with suppress(ImportError):
                import_module(name)
    keep_for_forks()


DEAD = 137


def die() -> None:
    """As by kill -9; a signal would be an effect, which is told to the journal."""
    os._exit(DEAD)


def dies_at(number: int, before: Watch | None = None) -> Watch:
    """Killed at the point of this number."""
    left = [number]

    def watch(name: str) -> None:
        if before:
            before(name)
        left[0] -= 1
        if left[0] < 0:
            die()

    return watch


def points_of(run: Callable[[Machine, Watch], Done], files: Mapping[str, str] = FILES) -> list[str]:
    """Every point that a run passes, in order."""
    with machine(files) as one:
        path = one.base / "points"
        with open(path, "ab", buffering=0) as out:  # to open it later would be an effect of the run
            run(one, lambda name: _write(out, name))
        return path.read_text().split()


def _write(out: IO[bytes], name: str) -> None:
    out.write(f"{name}\n".encode())


def keeps(one: Machine, copy: Path) -> Watch:
    """Copies the journal whenever it was synced: that much outlives a loss of power."""

    def watch(name: str) -> None:
        if name == "journal.synced":
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(one.runs, copy)

    return watch


class Boots(reboot.MachineRebooter):
    """Which boot of a machine it is; ``lose`` begins another."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def identity(self) -> dict[str, str]:
        return {"boot_id": f"boot {self.number}"}


def lose(one: Machine, copy: Path) -> None:
    """Power is lost, and what was not synced is gone."""
    one.boots.number += 1
    one.quiet()
    shutil.rmtree(one.runs, ignore_errors=True)
    if copy.exists():
        shutil.copytree(copy, one.runs)


# -- what must be true -------------------------------------------------------------------------------


def check(one: Machine, expected: Told, usual: Counter[str]) -> None:
    """Ended, nothing started twice, and every answer is that of the uninterrupted run or says why not."""
    told = one.finish()
    log = one.log()
    assert not log - usual, f"started too often: {log - usual}"
    assert _order(told) == _order(expected), f"{_order(told)} is not {_order(expected)}"
    open_ends = [tag for tag, answer in told.items() if answer.get("indeterminate")]
    assert len(open_ends) <= AT_MOST
    for tag, answer in told.items():
        if tag not in open_ends:
            _same(tag, answer, expected[tag], doubt=bool(open_ends))
    if not open_ends:
        assert log == usual


def _order(told: Told) -> list[str]:
    """What runs beside the others has its place by chance."""
    return [str(answer["__id__"]) for answer in told.values() if "par-" not in str(answer["__id__"])]


def _same(tag: str, answer: dict[str, object], wanted: dict[str, object], *, doubt: bool) -> None:
    if doubt and answer["__id__"] in BLOCKED:
        return
    assert answer["result"] == wanted["result"], f"{tag}: {answer}"
    if answer.get("resumed"):
        return  # called again: what it had done before is done already
    assert _changes(answer) == _changes(wanted), f"{tag}: {answer}"
    assert answer["comment"] == wanted["comment"], tag


def _changes(answer: dict[str, object]) -> dict[str, object]:
    changes = answer["changes"]
    assert isinstance(changes, dict)
    return {key: value for key, value in changes.items() if key != "pid"}
