"""A machine of files: it has boots, goes down when it is asked to, and takes its processes with it."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from saltern.config.settings import Settings
from saltern.durable.apply import JournalOptions, apply
from saltern.durable.resume import resume
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE
from saltern.system import faults, reboot
from saltern.system.power import Pending
from saltern.system.reboot import GOES_DOWN

KILLED, DOWN, RAISED = 137, 99, 70
OWN = ("barrier.", "reboot.", "update.")
STRIDE = 1 if os.environ.get("SALTERN_FAULT_ALL") else 7


def chosen(points: list[str]) -> list[int]:
    """Where to kill: at each point of a barrier and right before it, and at some of the others.

    With SALTERN_FAULT_ALL set, at every point.
    """
    own = {at for at, name in enumerate(points) if name.startswith(OWN)}
    return sorted({at for at in range(len(points)) if at in own or at + 1 in own or at % STRIDE == 0})


class Machine:
    """Implements ``system.reboot.Rebooter``. ``stubborn``: it never goes down."""

    def __init__(self, place: Path, *, stubborn: bool = False) -> None:
        self.place = place
        self.stubborn = stubborn
        self._boot = place / "boot"
        self._armed = place / "armed"
        self.waited = 0.0
        self.notices: list[float] = []
        if not self._boot.exists():
            self._boot.write_text("0")

    @property
    def boots(self) -> int:
        return int(self._boot.read_text())

    @property
    def armed(self) -> bool:
        return self._armed.exists()

    def identity(self) -> dict[str, str]:
        return {"boot_id": f"boot {self.boots}", "pid1": "", "nonce": ""}

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        self.notices.append(notice)
        if force or not self.stubborn:
            self._armed.write_text("reboot" if notice else "")

    def pending_shutdown(self) -> Pending | None:
        """One with a notice waits, and can be called off."""
        word = self._armed.read_text() if self.armed else ""
        return Pending(mode=word) if word else None

    def schedule(self, mode: str) -> None:
        """Somebody else does."""
        self._armed.write_text(mode)

    def cancel(self) -> str:
        if self.pending_shutdown() is None:
            return GOES_DOWN
        self._armed.unlink()
        return ""

    def power(self, word: str, at: object = None) -> str:
        (self.place / "power").write_text(f"{word} {at}")
        return ""

    def tick(self) -> float:
        return time.monotonic() + self.waited

    def wait(self, seconds: float) -> None:
        if self.armed and self.pending_shutdown() is None:
            os._exit(DOWN)
        self.waited += seconds

    def boot(self) -> None:
        """Down and up again."""
        self._armed.unlink(missing_ok=True)
        self._boot.write_text(str(self.boots + 1))


class Site:
    """A tree of states, a state directory, and a machine; each process of a run is a child of the test."""

    def __init__(self, place: Path, files: dict[str, str], *, stubborn: bool = False) -> None:
        self.place = place
        for name, text in files.items():
            file = place / "states" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("@", str(place)))
        self.machine = Machine(place, stubborn=stubborn)
        self.settings = Settings(
            id="here",
            file_roots={"base": [str(place / "states")]},
            pillar_roots={"base": []},
            state_dir=str(place / "state"),
            cachedir=str(place / "cache"),
        )
        self.points: list[str] = []

    # -- processes ---------------------------------------------------------------------------------

    def begin(self, *, kill_at: int | None = None) -> int:
        return self._child(self._apply, kill_at)

    def go_on(self, *, kill_at: int | None = None) -> int:
        return self._child(self._resume, kill_at)

    def _apply(self) -> None:
        apply(make_session(self.settings), Request(sls=("top",)), None, JournalOptions())

    def _resume(self) -> None:
        resume(self.settings, None, None)

    def _child(self, work: Callable[[], None], kill_at: int | None) -> int:
        """The exit code; ``kill_at`` is the point at which it is killed."""
        names = self.place / "points"
        names.write_text("")
        child = os.fork()
        if child == 0:
            self._live(work, kill_at, names)
        _, status = os.waitpid(child, 0)
        self.points = names.read_text().split()
        code = os.waitstatus_to_exitcode(status)
        assert code != RAISED, (self.place / "trace").read_text()
        return code

    def _live(self, work: Callable[[], None], kill_at: int | None, names: Path) -> None:
        sys.dont_write_bytecode = True  # else a first run, which writes what it compiles, has more points
        passed = 0
        told = os.open(names, os.O_WRONLY | os.O_APPEND)

        def at(name: str) -> None:
            nonlocal passed
            os.write(told, f"{name}\n".encode())
            if passed == kill_at:
                os._exit(KILLED)
            passed += 1

        try:
            reboot.use(self.machine)
            faults.watch(at)
            work()
        except BaseException:
            (self.place / "trace").write_text(traceback.format_exc())
            os._exit(RAISED)
        os._exit(0)

    def to_the_end(self, *, most: int = 40) -> None:
        """Boot when the machine is to, resume until nothing is left."""
        for _ in range(most):
            if self.machine.armed:
                self.machine.boot()
            if not self.state or self.state.status not in RESUMABLE:
                return
            self.go_on()
        raise AssertionError("the run does not end")

    # -- what came of it ---------------------------------------------------------------------------

    @property
    def state(self) -> RunState | None:
        runs = Runs(self.settings)
        jids = runs.jids()
        return runs.state(jids[0]) if jids else None

    @property
    def log(self) -> list[str]:
        file = self.place / "log"
        return file.read_text().splitlines() if file.exists() else []

    def outcomes(self) -> dict[str, object]:
        """ID → outcome, as the journal has it."""
        from saltern.journal.report import report_of

        assert self.state is not None
        return {answer.chunk.id: answer.result.outcome.value for answer in report_of(self.state).answers}
