"""A machine with boots, two builds and a disk that may forget: it can be broken at any point of any of the
processes that it takes to come through a few barriers."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from tests.e2e.command import Done, Place
from tests.fault.crossing_disk import Disk
from tests.fault.machine import DEAD, MEMORY, Watch, die, import_all, only_here

import saltern
from saltern.config.settings import Settings
from saltern.durable.barriers import takeover
from saltern.journal.runs import Runs
from saltern.modules.lib.boots import reboot_needed
from saltern.modules.states import saltern as updating
from saltern.system import build_slots, faults, ledger, reboot
from saltern.system.power import Pending

DOWN = 98  # ended by the machine, or has become another build
OWN = ("barrier.", "reboot.", "update.", "chain.", "keeper.")  # points of what is tested here
VERSIONS = {"slots/a": "1", "slots/b": "2"}
AT_MOST = 14  # processes until it must have ended
LONGEST = 30.0  # seconds for programs of a process that was killed

HALFWAY = """#!/bin/sh
# Done in two parts, with a reboot between them.
part=$(($(cat {at}/part 2>/dev/null || echo 0) + 1))
echo $part > {at}/part
echo part-$part $(cat {at}/boot) $BUILD >> {at}/log
test $part != 1 || exit 194
"""

Step = tuple[str, int, str]  # what was done, in which boot, by which build


class Power:
    """Implements ``reboot.Rebooter`` by files: ``boot`` counts, ``armed`` is there once it was asked to go
    down. To wait costs no time, and whoever waits for a machine that goes down is ended by it."""

    def __init__(self, at: Path) -> None:
        self.at = at
        self.waited = 0.0

    def identity(self) -> dict[str, str]:
        return {"boot_id": (self.at / "boot").read_text()}

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        (self.at / "armed").write_text(f"{notice} {force}")

    def pending_shutdown(self) -> Pending | None:
        return None

    def cancel(self) -> str:
        return reboot.GOES_DOWN

    def power(self, word: str, at: object = None) -> str:
        raise AssertionError(f"nothing asks for {word} {at}")

    def tick(self) -> float:
        return time.monotonic() + self.waited

    def wait(self, seconds: float) -> None:
        if (self.at / "armed").exists():
            os._exit(DOWN)
        self.waited += seconds


@contextmanager
def build_of(root: Path, *, whole: bool = True) -> Iterator[str]:
    """This process believes to be the build that the link ``current`` points at.

    ``whole``: to become another build is to end, and nobody watches over that.
    """
    slot = build_slots.in_use(str(root))
    nothing: Callable[..., None] = lambda *_: None  # noqa: E731
    changes: list[tuple[Any, str, object]] = [
        (sys, "prefix", str(root / slot)),
        (saltern, "__version__", VERSIONS[slot]),
        (reboot_needed, "reasons", lambda *_: []),  # this machine may have its own
        (updating, "install", nothing),
        (updating, "prove", nothing),
        (os, "sync", nothing),
    ]
    if whole:
        changes += [
            (takeover, "_start_watchdog", nothing),
            (takeover, "_exec_build", lambda *_: os._exit(DOWN)),
        ]
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    for where, name, value in changes:
        setattr(where, name, value)
    try:
        yield VERSIONS[slot]
    finally:
        for where, name, value in before:
            setattr(where, name, value)


class Crash(Struct, frozen=True):
    """After how many points, over as many processes as that takes; what is ``left`` of what was not synced:
    all (a kill), or after a loss of power ``all``, ``none``, ``cut`` at some byte, a ``hole``."""

    at: int
    power: bool = False
    left: str = "all"


WAYS = (
    Crash(0),
    Crash(0, power=True, left="none"),
    Crash(0, power=True, left="cut"),
    Crash(0, power=True, left="hole"),
    Crash(0, power=True),
)


def way(number: int, at: int) -> Crash:
    return replace(WAYS[number % len(WAYS)], at=at)


class Boat(ABC):
    """A machine, and what is to be brought through its barriers."""

    codes: tuple[int, ...]  # of processes that went well

    def __init__(self, base: Path) -> None:
        self.base = base
        self.place = Place(base)
        self.place.write({"etc/saltern.yaml": "queue_runs: 20\n"})
        self.at = base / "at"
        self.opt = self.at / "opt"
        for slot in VERSIONS:
            (self.opt / slot).mkdir(parents=True)
        build_slots.point_at(str(self.opt), "current", "slots/a")
        (self.at / "boot").write_text("0")
        script = self.at / "halfway.sh"
        script.write_text(HALFWAY.format(at=self.at))
        script.chmod(0o755)
        self.settings = Settings(state_dir=str(base / "runs"))
        self.disk = Disk(base / "runs", base / "synced")
        self.asked = 0  # reboots that the machine was asked for, and did
        self.lost = 0  # losses of power
        self.passed: list[str] = []  # points of the last process

    @abstractmethod
    def words(self) -> list[str]:
        """The command line that begins it, or goes on with it."""

    @abstractmethod
    def is_over(self) -> bool:
        """It has ended, by what its journal says."""

    # -- processes ---------------------------------------------------------------------------------

    def run(self, *words: str, watch: Watch | None = None) -> Done:
        names = self.base / "points"
        with open(names, "w+b", buffering=0) as out, build_of(self.opt) as build:

            def tell(name: str) -> None:
                out.write(f"{name}\n".encode())
                if watch:
                    watch(name)

            faults.watch(only_here(tell))
            reboot.use(Power(self.at))
            try:
                done = self.place.run(*words, env={"BUILD": build})
            finally:
                reboot.use(None)
                faults.watch(None)
        self.passed = names.read_text().split()
        return done

    def next(self, watch: Watch | None = None) -> Done:
        """The process that comes next."""
        self.boot_if_asked()
        done = self.run(*self.words(), watch=watch)
        assert done.code in (DEAD, DOWN, *self.codes), f"{done.code}: {done.err}"
        return done

    def over(self) -> bool:
        return not (self.at / "armed").exists() and self.is_over()

    def through(self) -> None:
        """To the end, whatever that takes."""
        for _ in range(AT_MOST):
            if self.over():
                return
            self.next()
        raise AssertionError("it does not end")

    def boot_if_asked(self) -> None:
        if (self.at / "armed").exists():
            self.asked += 1
            self._boot()

    def _boot(self) -> None:
        (self.at / "armed").unlink(missing_ok=True)
        (self.at / "boot").write_text(str(self.boot + 1))

    @property
    def boot(self) -> int:
        return int((self.at / "boot").read_text())

    def steps(self) -> list[Step]:
        """What was logged."""
        path = self.at / "log"
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [(name, int(boot), build) for name, boot, build in rows]

    # -- crashes -----------------------------------------------------------------------------------

    def crash(self, crash: Crash, chance: random.Random) -> None:
        """Run until it happens, or until there is nothing left to break."""
        left = crash.at
        while not self.over():
            code = self.next(self._breaks(left)).code
            left -= len(self.passed)
            if code == DEAD:
                self.settle()
                if crash.power:
                    self.lost += 1
                    self.disk.lose(crash.left, chance)
                    self._boot()
                return

    def _breaks(self, number: int) -> Watch:
        """Killed at the point of this number."""
        left = [number]

        def watch(name: str) -> None:
            left[0] -= 1
            if left[0] < 0:
                die()
            if name == "journal.synced":
                self.disk.keep()

        return watch

    def settle(self) -> None:
        """Until whatever a killed process has started has ended."""
        end = time.monotonic() + LONGEST
        while self._busy():
            assert time.monotonic() < end, "something that a killed process has started does not end"
            time.sleep(0.002)

    def _busy(self) -> bool:
        runs = Runs(self.settings)
        folders = Path(runs.folder).glob("*.kept") if os.path.exists(runs.folder) else ()
        return runs.lock.holder() is not None or any(ledger.at_work(str(one)) for one in folders)


# -- many machines -----------------------------------------------------------------------------------

Kind = TypeVar("Kind", bound=Boat)


class Voyage(Generic[Kind]):
    """One that nobody breaks: what it comes to, and the machine as it was before each of its processes.

    Those that are to be broken begin there; always in the same place, since journals know theirs.
    """

    def __init__(self, make: Callable[[Path], Kind]) -> None:
        folder = MEMORY if os.access(MEMORY, os.W_OK) else None
        self.base = base = Path(tempfile.mkdtemp(prefix="saltern-crossing-", dir=folder))
        atexit.register(shutil.rmtree, base, ignore_errors=True)
        (base / "now").mkdir()
        self.boat = boat = make(base / "now")
        self.points: list[list[str]] = []
        self.took: list[float] = []
        while not boat.over():
            boat.boot_if_asked()
            shutil.copytree(boat.base, base / str(len(self.points)), symlinks=True)
            begun = time.monotonic()
            boat.next(_notes_imports(base / "modules"))
            self.took.append(time.monotonic() - begun)
            self.points.append(boat.passed)
        import_all(base / "modules")
        self.steps = boat.steps()
        self.boots = boat.boot

    def before(self, process: int) -> Kind:
        """The machine when this process is about to begin: what was left for a barrier is synced."""
        boat = self.boat
        shutil.rmtree(boat.base)
        shutil.copytree(self.base / str(process), boat.base, symlinks=True)
        boat.disk.keep()
        boat.asked, boat.lost = boat.boot, 0
        return boat

    @property
    def schedule(self) -> list[tuple[int, int, str]]:
        """Every point: process, number, name."""
        return [
            (process, number, name)
            for process, names in enumerate(self.points)
            for number, name in enumerate(names)
        ]

    def singles(self, most: int = 0) -> list[tuple[int, Crash]]:
        """Process and crash: every point in every way; or the ``most``, each of another name if there are
        as many, those of barriers first."""
        if not most:
            return [(process, way(n, at)) for process, at, _ in self.schedule for n in range(len(WAYS))]
        chance = random.Random(most)
        places = {name: [one for one in self.schedule if one[2] == name] for _, _, name in self.schedule}
        names = sorted(places, key=lambda name: (not name.startswith(OWN), name))
        found = [chance.choice(places[name]) for name in names[:most]]
        return [(process, way(n, at)) for n, (process, at, _) in enumerate(found)]

    def pairs(self, number: int, chance: random.Random) -> Iterator[tuple[int, Crash, Crash]]:
        for _ in range(number):
            process, at, _ = chance.choice(self.schedule)
            second = chance.randrange(sum(map(len, self.points[process:])))
            yield process, way(chance.randrange(len(WAYS)), at), way(chance.randrange(len(WAYS)), second)

    def cuts(self, number: int, chance: random.Random) -> Iterator[tuple[int, Crash]]:
        """Power fails while something is written, or right after that."""
        written = [one for one in self.schedule if one[2] in ("journal.synced", "journal.saved")]
        for _ in range(number):
            process, at, _ = chance.choice(written)
            yield process, Crash(at, power=True, left=chance.choice(("cut", "cut", "hole")))

    def broken(self, process: int, crashes: Sequence[Crash]) -> Kind:
        boat = self.before(process)
        chance = random.Random(f"{process} {crashes}")
        for crash in crashes:
            boat.crash(crash, chance)
        return boat

    def holds(self, boat: Kind, doubt: set[str]) -> None:
        """What is true of everything that was done, but for what is in ``doubt``."""
        steps = boat.steps()
        names = [name for name, _, _ in steps]
        assert set(names) <= {name for name, _, _ in self.steps}, f"done, and never to be: {names}"
        assert len(set(names)) == len(names), f"started twice: {names}"
        self._in_order(names)
        self._on_their_side(steps)
        assert boat.asked <= self.boots, f"{boat.asked} reboots"
        missing = {name for name, _, _ in self.steps} - set(names) - doubt
        assert not missing, f"not done, and nobody says so: {missing}"

    def _in_order(self, names: list[str]) -> None:
        """What runs beside the others has its place by chance."""
        place = {name: at for at, (name, _, _) in enumerate(self.steps)}
        found = [place[name] for name in names if not name.startswith("par-")]
        assert found == sorted(found), f"not in their order: {names}"

    def _on_their_side(self, steps: list[Step]) -> None:
        """No step after a reboot runs in the boot of those before it; none runs in another build."""
        usual = {name: (boot, build) for name, boot, build in self.steps}
        for name, boot, build in steps:
            assert build == usual[name][1], f"{name} in build {build}"
            for other, earlier, _ in steps:
                before = usual[other][0] < usual[name][0]
                assert not before or earlier < boot, f"{name} in the boot of {other}"


def _notes_imports(names: Path) -> Watch:
    def watch(name: str) -> None:
        if name in ("journal.closed", "end", "reboot.armed", "update.switched"):
            names.write_text(" ".join(sys.modules))

    return watch
