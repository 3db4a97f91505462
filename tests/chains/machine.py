"""A machine for chains: its boots are numbers in a file, and it can be broken at any point.

``python -m tests.chains.machine BASE WORD…`` is saltern on that machine, as a process of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import json
from tests.e2e.command import Done, Place, _environment

import saltern.chains.drive
import saltern.chains.show
import saltern.cli.chain
import saltern.durable.barriers
import saltern.engine.nested_engine
import saltern.modules.states.cmd
import saltern.modules.states.file.managed
import saltern.modules.states.system.reboot
import saltern.render.yaml_places  # noqa: F401 - what every forked child would import again
from saltern.chains.legs import KnownLeg, Legs
from saltern.chains.statuses import OVER
from saltern.cli.main import run
from saltern.config.settings import Settings
from saltern.modules.lib.boots import reboot_needed
from saltern.system import faults, reboot
from saltern.system.power import Pending

AT_MOST = 12
DEAD = 137
MEMORY = "/dev/shm"  # where a sync costs nothing
Watch = Callable[[str], None]


class Boots:
    """Implements ``reboot.Rebooter`` by files: ``boot`` has the number of this one, ``asked`` is there
    after a reboot was asked for, unless the machine is ``stubborn``. To wait costs no time, and whoever
    waits for a machine that goes down is ended by it, at once unless it takes ``real`` time."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.waited = 0.0

    def identity(self) -> dict[str, str]:
        return {"boot_id": (self.base / "boot").read_text()}

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        if force or not (self.base / "stubborn").exists():
            (self.base / "asked").write_text(str(notice))

    def pending_shutdown(self) -> Pending | None:
        """One with a notice waits, and can be called off."""
        asked = self.base / "asked"
        return Pending(mode="reboot") if asked.exists() and float(asked.read_text()) else None

    def cancel(self) -> str:
        if self.pending_shutdown() is None:
            return reboot.GOES_DOWN
        (self.base / "asked").unlink()
        return ""

    def power(self, word: str, at: object = None) -> str:
        (self.base / "power").write_text(f"{word} {at}")
        return ""

    def tick(self) -> float:
        return time.monotonic() + self.waited

    def wait(self, seconds: float) -> None:
        if (self.base / "asked").exists() and (
            self.pending_shutdown() is None or not (self.base / "real").exists()
        ):
            if callable(signal.getsignal(signal.SIGTERM)):
                os.kill(os.getpid(), signal.SIGTERM)  # as a shutdown does
            os._exit(DEAD)
        if (self.base / "real").exists():
            (self.base / "waits").touch()
            time.sleep(seconds)
        self.waited += seconds


CHAIN = """\
chain: whole
id: 7
actions:
  - {{id: a, command: {{run: 'echo a $(cat {base}/boot) >> {base}/log'}}}}
  - {{id: b, file: {{path: '{base}/b', contents: hello}}}}
  - {{id: r, reboot: {{}}}}
  - {{id: c, command: {{run: 'echo c $(cat {base}/boot) >> {base}/log'}}}}
  - id: d
    command: {{run: 'echo d $(cat {base}/boot) >> {base}/log; false'}}
    on_failure: continue
  - {{id: s, reboot: {{}}}}
  - {{id: e, command: {{run: 'echo e $(cat {base}/boot) >> {base}/log'}}}}
"""
USUAL = {
    "a": "succeeded",
    "b": "succeeded",
    "r": "succeeded",
    "c": "succeeded",
    "d": "failed",
    "s": "succeeded",
    "e": "succeeded",
}


class Bench:
    def __init__(self, base: Path, chain: str = CHAIN) -> None:
        self.base = base
        self.place = Place(base)
        self.settings = Settings(state_dir=str(base / "runs"))
        self.file = base / "chain.yaml"
        self.file.write_text(chain.format(base=base))
        (base / "boot").write_text("1")

    def chain(self, *words: str, watch: Watch | None = None) -> Done:
        """In a forked child. What ``watch`` does happens there."""
        reboot.use(Boots(self.base))
        faults.watch(watch)
        try:
            return self.place.run("chain", *words)
        finally:
            faults.watch(None)
            reboot.use(None)

    def process(self, *words: str, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """As a process of its own, to be killed."""
        argv = self.place.argv("chain", *words)
        env = {**_environment(self.base, None), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "tests.chains.machine", str(self.base), *argv]
        return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=stderr)

    def boots(self) -> int:
        return int((self.base / "boot").read_text())

    def goes_down(self) -> bool:
        """Reboot, if somebody asked for it."""
        if not (self.base / "asked").exists():
            return False
        (self.base / "asked").unlink()
        (self.base / "boot").write_text(str(self.boots() + 1))
        return True

    def leg(self) -> KnownLeg | None:
        return next(Legs(self.settings).all(), None)

    def to_the_end(self) -> KnownLeg:
        """Reboot and resume until it is over. One that never began is run."""
        for _ in range(AT_MOST):
            self.goes_down()
            known = self.leg()
            if known is not None and known.state.status in OVER:
                return known
            done = self.chain("resume") if known else self.chain("run", str(self.file))
            assert done.code in (0, 2, 6, DEAD), f"{done.code}: {done.err}"
        raise AssertionError("the leg does not end")

    def statuses(self) -> dict[str, str]:
        known = self.leg()
        assert known is not None
        return {name: step.status.value for name, step in known.state.steps.items()}

    def log(self) -> list[str]:
        path = self.base / "log"
        return path.read_text().splitlines() if path.exists() else []

    def shown(self) -> dict[str, object]:
        known = self.leg()
        assert known is not None
        done = self.chain("status", known.id, "--out", "json")
        return json.decode(done.out, type=dict[str, dict[str, object]])["local"]


@contextmanager
def benches() -> Iterator[Callable[[], Bench]]:
    """Fresh machines, as many as are asked for."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-chains-", dir=folder) as base:
        yield lambda: Bench(Path(tempfile.mkdtemp(dir=base)))


def holds(bench: Bench) -> None:
    """What must be true of a leg that is over, whatever broke on its way."""
    known = bench.to_the_end()
    log = Counter(line.split()[0] for line in bench.log())
    assert max(log.values(), default=0) <= 1, f"started twice: {log}"
    found = bench.statuses()
    doubt = [name for name, status in found.items() if status == "indeterminate"]
    order = list(USUAL)
    for name, status in found.items():
        blocked = doubt and order.index(name) > order.index(doubt[0])
        assert status in ((USUAL[name], "indeterminate") if not blocked else (USUAL[name], "not run")), found
    boots = {line.split()[0]: line.split()[1] for line in bench.log()}
    assert all(
        boots[name] == number for name, number in (("a", "1"), ("c", "2"), ("e", "3")) if name in boots
    )
    if not doubt or doubt == ["d"]:
        assert bench.boots() == 3, "as many reboots as the chain has"
    assert known.state.status.value in ("failed", "indeterminate")


if __name__ == "__main__":
    reboot.use(Boots(Path(sys.argv[1])))
    reboot_needed.WITNESSES = ()
    sys.exit(run(sys.argv[2:]))
