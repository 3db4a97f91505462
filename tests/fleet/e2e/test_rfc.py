"""The example of the RFC (A1 … A4 on M1 … M4) in one run on a fleet of real processes, each at its own pace:
two machines restart, one updates its agent in the middle, and one has no agent and is reached over SSH.

A machine is a PID namespace with its own /run; its reboot ends every process of it, and it boots again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.barriers.builds import NEW
from tests.barriers.wheels import build, pack_dependencies
from tests.fleet.faults.kit import FaultFleet, short_directory, wait_until
from tests.fleet.ssh.server import SSHD, Server
from tests.fleet.ssh.test_reboot import machine

from saltern.cli.local_fleet import CONFIG

AGENTS = ("M1", "M2", "M3")
SYSTEMS = (*AGENTS, "M4")
BOOT = 'cut -d" " -f22 /proc/1/stat'
# As in the RFC: A1 and the restart A2 on M1, A3 on all, A4 on M2, M3 and M4. M4, behind SSH, restarts, too;
# M3 gets another build between A3 and A4, and on M2 the last action fails.
CHAIN = """\
chain: example
id: 123
actions:
  - {id: A1, command: 'echo A1 $(BOOT) >> BASE/M1', targets: [M1]}
  - {id: A2, reboot: {}, targets: [M1, M4]}
  - {id: A3, state: {sls: mark, pillar: {action: A3}}}
  - {id: update, agent: {version: VERSION, source: WHEELS, slots: OPT}, targets: [M3]}
  - {id: A4, state: {sls: mark, pillar: {action: A4, not_on: M2}}, targets: [M2, M3, M4]}
  - {id: A5, command: 'true', targets: [M2, M4]}
"""
MARK = """\
mark:
  cmd.run:
    - name: >-
        echo {{ pillar['action'] }} $(BOOT) >> BASE/{{ grains['id'] }};
        test {{ grains['id'] }} != {{ pillar.get('not_on', '-') }}
"""
INSIDE = (
    *("unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"),
)
EXPECTED = {
    "M1": {"A1": "succeeded", "A2": "succeeded", "A3": "succeeded"},
    "M2": {"A3": "succeeded", "A4": "failed", "A5": "not run"},
    "M3": {"A3": "succeeded", "update": "succeeded", "A4": "succeeded"},
    "M4": {"A2": "succeeded", "A3": "succeeded", "A4": "succeeded", "A5": "succeeded"},
}
CHUNKS = {"M1": [1, 1, 2], "M2": [1, 1, 1], "M3": [1, 1, 2], "M4": [1, 2, 2, 2]}
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


class RfcFleet(FaultFleet):
    """Machines that come back when they have gone down; the last one is behind SSH."""

    def start_all(self, host: Server) -> None:
        known = f"{CONFIG}ssh: {{known_hosts: {host.known_hosts}}}\n"
        self.write("controller/controller.yaml", known)
        entry = {
            "host": "127.0.0.1",
            "port": host.port,
            "user": "root",
            "priv": str(host.key),
            "ssh_options": ["IdentitiesOnly=yes", "IdentityAgent=none"],
            "thin_dir": f"{host.directory}/base",
        }
        self.write("controller/roster", json.dumps({"M4": entry}))
        self.start_controller()
        for name in AGENTS:
            self.join(name)
            self.write(f"{name}/agent.yaml", f"reboot_command: [touch, {self.base / name}/down]\n")
            self.inside[name] = INSIDE
            self.run_agent(name)
        with self.client() as client:
            wait_until(
                lambda: {one["id"] for one in client.systems.list() if one["online"]} == {*SYSTEMS},
                "a system is away",
                120,
            )

    def boot_those_that_went_down(self) -> None:
        for name in AGENTS:
            down = self.base / name / "down"
            if down.exists():
                self.end(name, how=signal.SIGKILL)
                down.unlink()
                self.run_agent(name)

    def log_of(self, name: str) -> dict[str, str]:
        """By action, the boot that it was done in; each once."""
        lines = (self.base / "done" / name).read_text().splitlines()
        rows = [(action, boot) for action, _, boot in (line.partition(" ") for line in lines)]
        assert len({action for action, _ in rows}) == len(rows), f"one was done twice: {rows}"
        return dict(rows)


@pytest.fixture
def fleet() -> Iterator[RfcFleet]:
    if subprocess.run([*INSIDE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no PID namespace is allowed here")
    with short_directory() as directory, machine(directory / "M4") as host:
        found = RfcFleet(directory)
        try:
            found.start_all(host)
            yield found
        finally:
            for name in AGENTS:
                found.end(name, how=signal.SIGKILL)
            found.stop()


def filled(text: str, fleet: RfcFleet, wheels: Path) -> str:
    names = {"BOOT": BOOT, "BASE": str(fleet.base / "done"), "VERSION": NEW, "WHEELS": str(wheels)}
    for word, value in {**names, "OPT": str(fleet.base / "M3/opt")}.items():
        text = text.replace(word, value)
    return text


def test_the_example_of_the_rfc_end_to_end(fleet: RfcFleet, wheels: Path) -> None:
    (fleet.base / "done").mkdir()
    fleet.write("controller/salt/mark.sls", filled(MARK, fleet, wheels))
    with fleet.client() as client:
        run = client.chain_runs.start("*", text=filled(CHAIN, fleet, wheels))["run"]

        def is_over() -> bool:
            fleet.boot_those_that_went_down()
            return str(client.chain_runs.get(run)["status"]) not in ("scheduled", "running")

        wait_until(is_over, "the run does not end", 300)
        assert client.chain_runs.get(run)["status"] == "partial", "one system's failure is its own"
        check({leg["system"]: leg for leg in client.chain_runs.legs(run)})
    check_boots(fleet)
    assert os.readlink(fleet.base / "M3/opt/current").startswith("slots/"), "the other build is in use"


def check(found: dict[str, dict[str, Any]]) -> None:
    """What the database has: by action and system, with the chunks that the RFC names."""
    steps = {name: {row["action"]: row["status"] for row in leg["steps"]} for name, leg in found.items()}
    assert steps == EXPECTED
    assert found["M2"]["steps"][-1]["blocked_by"] == "A4"
    for name, numbers in CHUNKS.items():
        chunks = [row["chunk"] for row in found[name]["steps"]]
        assert chunks == [f"actionchain_123_{name}_{number}" for number in numbers]


def check_boots(fleet: RfcFleet) -> None:
    """I3 and I4: who restarts does so once, and nothing of what comes after it is done before."""
    logs = {name: fleet.log_of(name) for name in SYSTEMS}
    assert {name: list(log) for name, log in logs.items()} == {
        "M1": ["A1", "A3"], "M2": ["A3", "A4"], "M3": ["A3", "A4"], "M4": ["A3", "A4"],
    }  # fmt: skip
    assert logs["M1"]["A1"] != logs["M1"]["A3"]
    first, second = (fleet.base / "M4/boots").read_text().split()
    assert logs["M4"] == {"A3": second, "A4": second} and first != second
