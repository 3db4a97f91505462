"""A chain of the RFC's shape on a fleet of real processes: each machine at its own pace, through restarts.

A machine is a PID namespace with its own /run; its reboot ends every process of it, and it boots again. By
``make chaos`` alone: it starts a controller and four agents, some of them twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.fleet.faults.kit import FaultFleet, short_directory, wait_until

SYSTEMS = ("M1", "M2", "M3", "M4")
# A1 on all, a restart of M1 and M3, A3 behind it everywhere, and A4, which fails on M2.
CHAIN = """\
chain: example
id: 123
actions:
  - {id: A1, command: 'echo A1 $(cut -d" " -f22 /proc/1/stat) >> BASE/$SALTERN_SYSTEM_FILE'}
  - {id: A2, reboot: {}, targets: [M1, M3]}
  - {id: A3, command: 'echo A3 $(cut -d" " -f22 /proc/1/stat) >> BASE/$SALTERN_SYSTEM_FILE'}
  - {id: A4, command: 'test $SALTERN_SYSTEM_FILE != M2', targets: [M1, M2]}
  - {id: A5, command: 'true', targets: [M2, M4]}
"""
INSIDE = (
    *("unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"),
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces are made by root")
long = pytest.mark.skipif(not os.environ.get("CHAOS_SECONDS"), reason="make chaos runs it")


class RfcFleet(FaultFleet):
    """Four machines that come back when they have gone down."""

    def start_all(self) -> None:
        self.start_controller()
        for name in SYSTEMS:
            self.join(name)
            self.write(f"{name}/agent.yaml", f"reboot_command: [touch, {self.base / name}/down]\n")
            self.inside[name] = INSIDE
            self.clocks[name] = {"SALTERN_SYSTEM_FILE": name}
            self.run_agent(name)
        with self.client() as client:
            wait_until(
                lambda: all(client.systems.get(one)["online"] for one in SYSTEMS), "an agent is away", 90
            )

    def boot_those_that_went_down(self) -> None:
        for name in SYSTEMS:
            down = self.base / name / "down"
            if down.exists():
                self.end(name, how=signal.SIGKILL)
                down.unlink()
                self.run_agent(name)

    def log_of(self, name: str) -> list[str]:
        return (self.base / "done" / name).read_text().split()


@needs_root
@long
def test_the_example_of_the_rfc_end_to_end() -> None:
    probe = subprocess.run([*INSIDE, "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no PID namespace is allowed here")
    with short_directory() as directory:
        fleet = RfcFleet(directory)
        try:
            fleet.start_all()
            check(fleet, directory)
        finally:
            for name in SYSTEMS:
                fleet.end(name, how=signal.SIGKILL)
            fleet.stop()


def check(fleet: RfcFleet, directory: Path) -> None:
    (directory / "done").mkdir()
    text = CHAIN.replace("BASE", str(directory / "done"))
    with fleet.client() as client:
        run = client.chain_runs.start("*", text=text)["run"]

        def is_over() -> bool:
            fleet.boot_those_that_went_down()
            return str(client.chain_runs.get(run)["status"]) not in ("scheduled", "running")

        wait_until(is_over, "the run does not end", 180)
        found = {leg["system"]: leg for leg in client.chain_runs.legs(run)}
        assert client.chain_runs.get(run)["status"] == "partial"
    steps = {name: {row["action"]: row["status"] for row in leg["steps"]} for name, leg in found.items()}
    good = dict.fromkeys(("A1", "A2", "A3"), "succeeded")
    assert steps == {
        "M1": {**good, "A4": "succeeded"},
        "M2": {"A1": "succeeded", "A3": "succeeded", "A4": "failed", "A5": "not run"},
        "M3": good,
        "M4": {"A1": "succeeded", "A3": "succeeded", "A5": "succeeded"},
    }
    assert found["M2"]["steps"][-1]["blocked_by"] == "A4"
    chunks = [row["chunk"] for row in found["M1"]["steps"]]
    assert chunks == [f"actionchain_123_M1_{number}" for number in (1, 1, 2, 2)]
    for name in SYSTEMS:
        first, boot, third, other = fleet.log_of(name)
        assert (first, third, boot != other) == ("A1", "A3", name in ("M1", "M3")), "I3, I4"
