"""A disk that is really full, below the agent, the database, the broker: reported, and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest
from tests.fleet.faults.kit import (
    FaultFleet,
    local_fleet,
    ping,
    short_directory,
    statuses,
    submit,
    wait_returned,
    wait_status,
    wait_until,
)
from tests.fleet.faults.small_disk import small_disk

from saltern.cli.local_fleet import CONFIG
from saltern.fleet.client.problems import ControllerError
from saltern.system import own_program


@pytest.fixture
def fleet() -> Iterator[FaultFleet]:
    with short_directory() as directory, local_fleet(directory) as fleet:
        yield fleet


def why(fleet: FaultFleet, jid: str, system: str) -> str:
    with fleet.client() as client:
        return str(next(row["why"] for row in client.jobs.targets(jid) if row["system"] == system))


def start_agent(fleet: FaultFleet, name: str) -> None:
    fleet.run_agent(name)
    with fleet.client() as client:
        fleet.wait(name, lambda: bool(client.systems.get(name)["online"]))


def test_an_agent_refuses_jobs_with_the_reason_and_returns_what_it_has_done_later(fleet: FaultFleet) -> None:
    fleet.join("web1")
    with small_disk(fleet.base / "web1", "48m") as disk:
        fleet.inside["web1"] = disk.inside
        start_agent(fleet, "web1")
        ping(fleet, "web1")
        begun = fleet.slow_job("web1", sleep=3)
        wait_until(lambda: fleet.marked("web1"), "the job does not run")
        disk.fill()
        refused = submit(fleet, "test.ping", "web1")
        wait_status(fleet, refused, "web1", "refused")
        assert "is full" in why(fleet, refused, "web1") and "free space" in why(fleet, refused, "web1")
        wait_until(lambda: "is full" in fleet.said("web1"), "the agent says nothing of its disk")
        words = own_program.command("saltern", ("agent", "status", "--directory", str(fleet.base / "web1")))
        shown = subprocess.run([*disk.inside, *words], capture_output=True, text=True, check=False).stdout
        assert "takes no jobs: the disk of" in shown and "free space" in shown
        shown = fleet.call("job", refused, "--controller", fleet.socket).stdout
        assert "1 refused: the " in shown and "free space" in shown, shown
        # Its worker cannot write its journal, and the agent cannot record that it starts another one.
        wait_until(lambda: f"job {begun} waits" in fleet.said("web1"), "the worker is not replaced")
        # A restart with a full disk says what is wrong, and works once there is space.
        disk.free()
        ping(fleet, "web1")
        wait_until(lambda: statuses(fleet, begun)["web1"] in ("returned", "failed", "indeterminate"), begun)
        disk.fill()
        fleet.end("web1")
        fleet.run_agent("web1")
        wait_until(lambda: fleet.ended("web1") is not None or "full" in fleet.said("web1")[-400:], "no word")
        if fleet.ended("web1") is not None:
            assert fleet.wait_ended("web1") != 0
            assert "No space left" in fleet.said("web1") or "is full" in fleet.said("web1")
            assert "Traceback" not in fleet.said("web1")
        else:
            fleet.end("web1")
        disk.free()
        start_agent(fleet, "web1")
        ping(fleet, "web1")


def test_a_database_without_space_takes_no_job_and_says_why_and_returns_wait(fleet: FaultFleet) -> None:
    fleet.join("web1")
    fleet.end("controller")
    data = fleet.base / "data"
    data.mkdir()
    shutil.move(fleet.base / "controller" / "controller" / "fleet.db", data)
    fleet.write("controller/controller.yaml", f"{CONFIG}database: sqlite:///{data}/fleet.db\n")
    with small_disk(data, "16m") as disk:
        fleet.inside["controller"] = disk.inside
        fleet.start_controller()
        start_agent(fleet, "web1")
        ping(fleet, "web1")
        begun = fleet.slow_job("web1", sleep=2)
        wait_until(lambda: fleet.marked("web1"), "the job does not run")
        disk.fill()
        with fleet.client() as client, pytest.raises(ControllerError) as refused:
            for _ in range(2000):  # what is left of the last page of the file is used first
                client.jobs.submit("test.ping", "web1")
        assert "full" in str(refused.value) or "space" in str(refused.value), refused.value
        assert "free space on its disk" in str(refused.value.diagnostics[0].fix)
        wait_until(lambda: not_ready(fleet), "the controller does not say that it is not ready")
        disk.free()
        wait_returned(fleet, begun)
        ping(fleet, "web1")
        with fleet.client() as client:
            fleet.wait("the controller", lambda: is_ready(client))


def test_a_broker_without_space_takes_no_job_and_continues_by_itself(fleet: FaultFleet) -> None:
    fleet.join("web1")
    fleet.end("controller")
    with small_disk(fleet.base / "controller/controller/broker/streams", "24m") as disk:
        fleet.inside["controller"] = disk.inside
        fleet.start_controller()
        start_agent(fleet, "web1")
        ping(fleet, "web1")
        begun = fleet.slow_job("web1", sleep=0.5)
        wait_until(lambda: fleet.marked("web1"), "the job does not run")
        disk.fill()
        wait_until(lambda: refusal(fleet) == "fleet-broker-full", "jobs are still taken")
        wait_until(
            lambda: not_ready(fleet, "cannot write"), "the controller does not say that it is not ready"
        )
        assert (
            "free space" in fleet.call("call", "test.ping", "--on", "*", "--controller", fleet.socket).stderr
        )
        disk.free()
        wait_until(lambda: not refusal(fleet), "no job is taken though there is space")
        wait_returned(fleet, begun)
        assert fleet.marked("web1") == ["x"]
        ping(fleet, "web1")
        with fleet.client() as client:
            fleet.wait("the controller", lambda: is_ready(client))
    assert "disk of the broker is full" in fleet.said("controller")


def refusal(fleet: FaultFleet) -> str:
    """The code with which a job is refused."""
    with fleet.client() as client:
        try:
            client.jobs.submit("test.ping", "web1")
        except ControllerError as problem:
            return problem.diagnostics[0].code
    return ""


def not_ready(fleet: FaultFleet, why: str = "full") -> bool:
    with fleet.client() as client:
        try:
            client.ready()
        except ControllerError as problem:
            return why in str(problem)
    return False


def is_ready(client: object) -> bool:
    try:
        return bool(client.ready())  # type: ignore[attr-defined]
    except ControllerError:
        return False
