"""Real runs of another engine, from the environments that ``make engines`` and ``make salt`` prepare."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from tests import kit
from tests.modules.bench import Bench

from saltern.language.result import Outcome, Result, SubResult

BUILD = Path(__file__).parents[2] / "build"
PREPARED = (BUILD / "engines" / "bin", BUILD / "salt" / "programs")


def program(name: str) -> str | None:
    """That of a prepared environment, or else the machine's."""
    return shutil.which(name, path=os.pathsep.join([*map(str, PREPARED), os.environ.get("PATH", os.defpath)]))


def unhurried(work: Callable[[], object], least: float) -> float:
    """Seconds in which this machine, as busy as it is, surely has done more than this work."""
    begun = time.monotonic()
    work()
    return max(least, 4 * (time.monotonic() - begun))


class Engine:
    """Calls one state of a module. ``told`` are the steps of the last call.

    When the n-th of them is heard, the file ``heard-n`` is made, for programs that wait for that.
    """

    def __init__(self, base: Path, module: ModuleType, fun: str, **usual: object) -> None:
        self.base = base
        self.bench = Bench(base, module)
        self.fun = fun
        self.usual = usual
        self.told: list[SubResult] = []

    def run(self, name: str, *, test: bool = False, **args: object) -> Result:
        self.told = []
        chunk = kit.chunk("it", state=self.bench.state, fun=self.fun, name=name, more={**self.usual, **args})
        return self.bench.caller.call(chunk, chunk.args, test=test, emit=self._hear)

    def _hear(self, step: SubResult) -> None:
        self.told.append(step)
        (self.base / f"heard-{len(self.told)}").touch()

    def __getitem__(self, id_: str) -> SubResult:
        return next(step for step in self.told if step.id == id_)

    def words(self) -> dict[str, tuple[Outcome, bool, bool]]:
        """Of each step: its outcome, whether it ran, whether it changed something."""
        return {step.id: (step.outcome, step.ran, bool(step.changes)) for step in self.told}

    def log(self, result: Result) -> str:
        return Path(str(result.data["log"])).read_text(errors="replace")

    def waits(self, number: int = 1) -> str:
        """A command that ends once so many steps were heard."""
        return f"until test -e {self.base}/heard-{number}; do sleep 0.05; done"

    def interrupted(
        self, flag: Path, number: signal.Signals, name: str, *, steps: int = 1, **args: object
    ) -> Result:
        """What comes of a call whose engine gets a signal once the steps were heard and the flag is there.

        The flag's first line has the process.
        """

        def interrupt() -> None:
            end = time.monotonic() + 300
            while not (len(self.told) >= steps and flag.exists() and flag.read_text().endswith("\n")):
                assert time.monotonic() < end, "it does not begin"
                time.sleep(0.05)
            os.kill(int(flag.read_text()), number)

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            return self.run(name, test=False, **args)
        finally:
            thread.join()


OK = (Outcome.OK, True, False)
CHANGED = (Outcome.OK, True, True)
WOULD = (Outcome.WOULD_CHANGE, True, True)
FAILED = (Outcome.FAILED, True, False)
SKIPPED = (Outcome.OK, False, False)
NOT_REACHED = (Outcome.FAILED, False, False)
