"""The example of the RFC (A1 … A4 on M1 … M4) in one run on a fleet of real processes, each at its own pace:
two machines restart, one updates its agent in the middle, and one has no agent and is reached over SSH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.barriers.builds import NEW
from tests.barriers.wheels import build, pack_dependencies
from tests.fleet.e2e.rfc import CHAIN, INSIDE, MARK, RfcFleet, check, check_boots, filled
from tests.fleet.faults.kit import short_directory
from tests.fleet.ssh.server import SSHD
from tests.fleet.ssh.test_reboot import machine
from tests.vm.disk import missing_for_network
from tests.vm.guest import Guest

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces"),
    pytest.mark.skipif(not (shutil.which("unshare") and SSHD), reason="needs unshare and sshd"),
]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheels")
    build(place, NEW)
    pack_dependencies(place)
    return place


@contextmanager
def started(kind: type[RfcFleet]) -> Iterator[RfcFleet]:
    if subprocess.run([*INSIDE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no PID namespace is allowed here")
    with short_directory() as directory, machine(directory / "M4") as host:
        fleet = kind(directory)
        try:
            fleet.start_all(host)
            yield fleet
        finally:
            fleet.end_all()


def run_example(fleet: RfcFleet, wheels: Path) -> None:
    fleet.write("controller/salt/mark.sls", filled(MARK, fleet, wheels))
    run = fleet.run_to_the_end(filled(CHAIN, fleet, wheels))
    assert run["status"] == "partial", "one system's failure is its own"
    check(run["legs"])
    check_boots(fleet)
    assert os.readlink(fleet.base / "M3/opt/current").startswith("slots/"), "the other build is in use"


def test_the_example_of_the_rfc_end_to_end(wheels: Path) -> None:
    with started(RfcFleet) as fleet:
        run_example(fleet, wheels)


class FleetWithGuest(RfcFleet):
    """The first machine is a virtual one: what restarts is a kernel, and what starts the agent its init."""

    namespaces = ("M2", "M3")
    config = RfcFleet.config.replace("127.0.0.1]", f"127.0.0.1, {Guest.HOST}]")
    patience = 1500.0
    guest: Guest

    def start_agents(self) -> None:
        super().start_agents()
        with self.client() as client:
            token = client.tokens.make()
        (self.base / "guest").mkdir()
        self.guest = Guest(self.base / "guest", token)
        self.guest.join("M1")
        self.guest.run(f"mkdir -p {self.base}/done")

    def lines_of(self, name: str) -> list[str]:
        return self.guest.read(f"{self.base}/done/{name}") if name == "M1" else super().lines_of(name)

    def end_all(self) -> None:
        if hasattr(self, "guest"):
            self.guest.unplug()
        super().end_all()


@pytest.mark.timeout(1800)
def test_the_example_of_the_rfc_with_a_virtual_machine(wheels: Path) -> None:
    if reason := missing_for_network():
        pytest.skip(reason)
    with started(FleetWithGuest) as fleet:
        run_example(fleet, wheels)
        assert isinstance(fleet, FleetWithGuest)
        log, boots = fleet.log_of("M1"), fleet.guest.boots()
        assert len(boots) == 2, "it has booted once more"
        assert [log["A1"].split()[-1], log["A3"].split()[-1]] == boots
