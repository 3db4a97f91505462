"""An agent on a machine of its own, over a network that is cut, loses packets, and comes back."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest
from tests.fleet.faults.kit import FaultFleet, ping, short_directory, statuses, wait_returned, wait_until
from tests.fleet.faults.machine import Machine, machine

from saltern.fleet.client.problems import ControllerError
from saltern.language.diagnostics import OperationError
from saltern.system import own_program


@pytest.fixture
def there() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def fleet(there: Machine) -> Iterator[FaultFleet]:
    """A controller that listens where the other machine reaches it, and the agent there."""
    with short_directory() as directory:
        fleet = FaultFleet(directory)
        fleet.write(
            "controller/controller.yaml",
            f"host: 0.0.0.0\nport: 0\nnames: [{there.here}, 127.0.0.1]\napi: {{port: 0}}\n",
        )
        try:
            fleet.start_controller()
            join(fleet, there, "web1")
            fleet.inside["web1"] = there.inside
            fleet.run_agent("web1")
            wait_online(fleet, True)
            yield fleet
        finally:
            there.connect()
            try:
                fleet.end("web1", how=signal.SIGKILL)
                fleet.stop()
            except (OperationError, ControllerError):
                pass


def join(fleet: FaultFleet, there: Machine, name: str) -> None:
    with fleet.client() as client:
        token = client.tokens.make()
    words = ("agent", "join", token, "--directory", str(fleet.base / name), "--id", name)
    command = [*there.inside, *own_program.command("saltern", words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def wait_online(fleet: FaultFleet, online: bool) -> None:
    def is_so() -> bool:
        with fleet.client() as client:
            return bool(client.systems.get("web1")["online"]) is online

    wait_until(is_so, f"web1 is not {'there' if online else 'away'}", 90)


def test_a_machine_joins_from_another_network_and_reboots_in_the_middle_of_a_job(
    fleet: FaultFleet, there: Machine
) -> None:
    ping(fleet, "web1")
    jid = fleet.slow_job("web1", sleep=30)
    wait_until(lambda: fleet.marked("web1"), "the job does not run")
    fleet.end("web1", how=signal.SIGKILL)  # and with it every process of the machine
    fleet.run_agent("web1")
    wait_until(lambda: statuses(fleet, jid)["web1"] not in ("queued", "sent", "running", "down"), "no end")
    assert len(fleet.marked("web1")) <= 2
    with fleet.client() as client:
        row = next(iter(client.jobs.targets(jid)))
    assert row["status"] in ("returned", "failed"), row
    ping(fleet, "web1")


@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_a_cable_that_is_pulled_loses_no_job_and_no_return(
    fleet: FaultFleet, there: Machine, when: str
) -> None:
    if when == "before":
        there.cut()
    jid = fleet.slow_job("web1", sleep=2)
    if when != "before":
        wait_until(lambda: fleet.marked("web1"), "the job does not run")
        there.cut()
        if when == "after":
            wait_until(lambda: fleet.marked("web1.after"), "the worker does not go on alone")
    there.connect()
    wait_returned(fleet, jid, 120)
    assert (fleet.marked("web1"), fleet.marked("web1.after")) == (["x"], ["x"])


def test_a_network_that_is_away_over_a_reboot_loses_no_job_and_no_return(
    fleet: FaultFleet, there: Machine
) -> None:
    """A job that has ended and one that nobody has heard of, while the machine is cut off and starts anew."""
    ended = fleet.slow_job("web1", sleep=1, mark="ended")
    wait_until(lambda: fleet.marked("web1"), "the job does not run")
    there.cut()
    wait_until(lambda: fleet.marked("web1.after"), "the worker does not go on alone")
    asked = fleet.slow_job("web1", sleep=0, mark="asked")
    fleet.end("web1", how=signal.SIGKILL)  # and with it every process of the machine
    fleet.run_agent("web1")
    there.connect()
    wait_returned(fleet, asked, 120)
    wait_until(lambda: statuses(fleet, ended)["web1"] in ("returned", "failed"), "no return", 120)
    assert fleet.marked("web1") == ["ended", "asked"]
    assert fleet.marked("web1.after") == ["ended", "asked"]


def test_lost_packets_delay_and_lose_nothing(fleet: FaultFleet, there: Machine) -> None:
    there.lose_packets(15)
    jids = [fleet.slow_job("web1", sleep=0, mark=str(number)) for number in range(3)]
    for jid in jids:
        wait_returned(fleet, jid, 120)
    assert fleet.marked("web1") == ["0", "1", "2"]
