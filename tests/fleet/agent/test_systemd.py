"""The agent as a service of a real systemd: it starts at boot, and its workers outlive it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.agent.booted import Booted, booted

from saltern.cli.local_fleet import LocalFleet

pytestmark = pytest.mark.slow
UNIT = "saltern-agent.service"
STATES = """\
mark:
  cmd.run:
    - name: |
        cat /proc/self/cgroup /proc/$PPID/cmdline >> {0}/{{{{ pillar['mark'] }}}}
        until [ -e {0}/gate ]; do sleep 0.1; done
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="sd"))  # sockets need short paths
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def fleet(directory: Path) -> Iterator[LocalFleet]:
    made = LocalFleet(str(directory))
    made.write("controller/salt/wait.sls", STATES.format(directory))
    try:
        made.start_controller()
        made.join("sd1")
        yield made
    finally:
        made.stop()


def submit(fleet: LocalFleet, mark: str) -> str:
    with fleet.client() as client:
        kwargs = {"pillar": {"mark": mark}}
        return str(client.jobs.submit("state.apply", "sd1", args=["wait"], kwargs=kwargs)["jid"])


def status(fleet: LocalFleet, jid: str) -> str:
    with fleet.client() as client:
        return "".join(row["status"] for row in client.jobs.targets(jid))


def is_online(fleet: LocalFleet) -> bool:
    with fleet.client() as client:
        return bool(client.systems.get("sd1")["online"])


def process(machine: Booted) -> int:
    return int(machine.shown(UNIT, "MainPID"))


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_workers_outlive_a_restart_of_the_service_and_its_death(fleet: LocalFleet, directory: Path) -> None:
    root = directory / "root"
    root.mkdir()
    agent = str(directory / "sd1")
    done = fleet.call("agent", "install-service", "--root", str(root), "--directory", agent)
    assert done.returncode == 0, done.stderr
    with booted(directory, f"{root}/etc/systemd/system") as machine:
        machine.until(lambda: is_online(fleet))  # it is started at boot
        for mark, act in (("restart", ("restart",)), ("death", ("kill", "--signal=KILL"))):
            jid, before = submit(fleet, mark), process(machine)
            scope = f"saltern-job-{jid}.scope"
            machine.until(lambda mark=mark, scope=scope: scope in text(directory / mark))
            machine.run("systemctl", *act, UNIT)
            machine.until(lambda before=before: process(machine) not in (0, before))
            assert machine.shown(scope, "ActiveState") == "active"
            (directory / "gate").touch()
            machine.until(lambda jid=jid: status(fleet, jid) == "returned")
            assert text(directory / mark).count("saltern-job-") == 1
            assert "saltern.cli.warm" in text(directory / mark)  # a fork, which systemd has moved
            machine.until(lambda scope=scope: machine.shown(scope, "ActiveState") == "inactive")
            os.unlink(directory / "gate")
        machine.run("systemctl", "stop", UNIT)
        machine.until(lambda: not is_online(fleet))
        assert machine.shown(UNIT, "Result") == "success"
