"""What tests of faults share: a fleet of real processes, what it says of itself, and patience."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from saltern.cli.local_fleet import LocalFleet
from saltern.fleet.client.problems import ControllerError
from saltern.language.diagnostics import OperationError
from saltern.system import own_program

PATIENCE = 60.0
# Two states: the first says that it runs, and takes as long as it is told to.
SLOW = """\
mark:
  cmd.run:
    - name: echo {{ pillar['mark'] }} >> {{ pillar['marks'] }}/{{ opts['id'] }}; sleep {{ pillar['sleep'] }}
after:
  cmd.run:
    - name: echo {{ pillar['mark'] }} >> {{ pillar['marks'] }}/{{ opts['id'] }}.after
    - require:
      - cmd: mark
"""


@contextmanager
def short_directory() -> Iterator[Path]:
    """A directory whose name is short enough for sockets in it."""
    path = Path(tempfile.mkdtemp(prefix="sf-")).resolve()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class FaultFleet(LocalFleet):
    """Processes that may run inside of something: a namespace, another clock."""

    def __init__(self, directory: Path) -> None:
        super().__init__(str(directory))
        self.base = directory
        self.inside: dict[str, tuple[str, ...]] = {}
        self.clocks: dict[str, dict[str, str]] = {}
        self.marks = directory / "marks"
        self.marks.mkdir(exist_ok=True)
        self.write("controller/salt/slow.sls", SLOW)

    def slow_job(self, target: str, *, sleep: float, mark: str = "x") -> str:
        """Submit a job that leaves marks; its jid."""
        pillar = {"mark": mark, "marks": str(self.marks), "sleep": sleep}
        return submit(self, "state.apply", target, args=["slow"], kwargs={"pillar": pillar})

    def marked(self, name: str) -> list[str]:
        """The marks that jobs have left on a system: once for each execution."""
        path = self.marks / name
        return path.read_text().split() if path.exists() else []

    def _spawn(self, name: str, *words: str) -> None:
        command = [*self.inside.get(name, ()), *own_program.command("saltern", words)]
        with open(self.log(name), "ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.directory,
                env=self._environment | self.clocks.get(name, {}),
            )

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def ended(self, name: str) -> int | None:
        """The exit code of a process that has ended."""
        return self._running[name].poll()

    def wait_ended(self, name: str) -> int:
        """The exit code of a process that ends by itself."""
        return self._running.pop(name).wait(PATIENCE)

    def said(self, name: str) -> str:
        """What a process has printed."""
        path = Path(self.log(name))
        return path.read_text(errors="replace") if path.exists() else ""


@contextmanager
def local_fleet(directory: Path, *names: str) -> Iterator[FaultFleet]:
    """A controller and real agents, ended afterwards whatever happened."""
    fleet = FaultFleet(directory)
    try:
        fleet.start(names)
        yield fleet
    finally:
        with suppress(OperationError, ControllerError):
            fleet.stop()


def wait_until(true: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
    """Look again and again; a controller that is away meanwhile is waited for."""
    end, last = time.monotonic() + timeout, ""
    while True:
        try:
            if true():
                return
        except ControllerError as problem:
            last = str(problem)
        assert time.monotonic() < end, f"{what} {last}"
        time.sleep(0.05)


def submit(fleet: LocalFleet, function: str, target: str, **more: Any) -> str:
    with fleet.client() as client:
        return str(client.jobs.submit(function, target, **more)["jid"])


def statuses(fleet: LocalFleet, jid: str) -> dict[str, str]:
    with fleet.client() as client:
        return {row["system"]: row["status"] for row in client.jobs.targets(jid)}


def wait_status(fleet: LocalFleet, jid: str, system: str, status: str, timeout: float = PATIENCE) -> None:
    """Until a system has this status in a job."""
    wait_until(
        lambda: statuses(fleet, jid).get(system) == status, f"{jid} is not {status} on {system}", timeout
    )


def wait_returned(fleet: LocalFleet, jid: str, timeout: float = PATIENCE) -> None:
    """Until every system of the job has returned it."""
    wait_until(
        lambda: set(statuses(fleet, jid).values()) == {"returned"},
        f"{jid} was not returned",
        timeout,
    )


def ping(fleet: LocalFleet, *systems: str) -> None:
    """Every one of these systems answers a ping."""
    wait_returned(fleet, submit(fleet, "test.ping", f"L@{','.join(systems)}"))


def refusals(fleet: LocalFleet) -> dict[str, float]:
    """What the controller counts as refused, by reason, as Prometheus reads it."""
    with fleet.client() as client:
        page = client.metrics()
    rows = re.findall(r'^saltern_refused_total\{reason="([^"]*)"\} (\S+)$', page, re.MULTILINE)
    return {reason: float(number) for reason, number in rows}


def alarms(fleet: LocalFleet, system: str) -> set[str]:
    """The reasons for which a system was reported."""
    with fleet.client() as client:
        events = [one for one in client.events() if one["tag"] == "saltern/alarm"]
    return {one["data"]["reason"] for one in events if one["data"]["id"] == system}


def resident(pid: int) -> int:
    """Bytes of memory that a process has now."""
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
