"""The example of the RFC: a fleet of four machines, the chain that runs on it, and what must come of it.

A machine is a PID namespace with its own /run; its reboot asks every process of it to end, ends those that do
not, and it boots again. One has no agent and is reached over SSH.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from tests.barriers.builds import NEW
from tests.fleet.faults.kit import FaultFleet, wait_until
from tests.fleet.ssh.server import Server

from saltern.cli.local_fleet import CONFIG

AGENTS = ("M1", "M2", "M3")
SYSTEMS = (*AGENTS, "M4")
# The first differs between boots of a namespace, the second between those of a kernel.
BOOT = 'cut -d" " -f22 /proc/1/stat /proc/sys/kernel/random/boot_id'
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


class RfcFleet(FaultFleet):
    """Machines that come back when they have gone down; the last one is behind SSH."""

    namespaces: tuple[str, ...] = AGENTS
    config = CONFIG
    patience = 300.0

    def start_all(self, host: Server) -> None:
        (self.base / "done").mkdir()
        known = f"{self.config}ssh: {{known_hosts: {host.known_hosts}}}\n"
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
        self.start_agents()
        with self.client() as client:
            wait_until(
                lambda: {one["id"] for one in client.systems.list() if one["online"]} == {*SYSTEMS},
                "a system is away",
                self.patience,
            )

    def start_agents(self) -> None:
        for name in self.namespaces:
            self.join(name)
            down = f"touch {self.base / name}/down; kill -TERM -1"
            self.write(f"{name}/agent.yaml", f"reboot_command: [sh, -c, '{down}']\n")
            self.inside[name] = INSIDE
            self.run_agent(name)

    def run_to_the_end(self, text: str) -> dict[str, Any]:
        """Run a chain on all systems; the run, with its legs by system."""
        with self.client() as client:
            run = client.chain_runs.start("*", text=text)["run"]

            def is_over() -> bool:
                self.boot_those_that_went_down()
                return str(client.chain_runs.get(run)["status"]) not in ("scheduled", "running")

            wait_until(is_over, "the run does not end", self.patience)
            legs = {leg["system"]: leg for leg in client.chain_runs.legs(run)}
            return {**client.chain_runs.get(run), "legs": legs}

    def boot_those_that_went_down(self) -> None:
        for name in self.namespaces:
            down = self.base / name / "down"
            if down.exists():
                self.end(name, how=signal.SIGKILL)
                down.unlink()
                self.run_agent(name)

    def lines_of(self, name: str) -> list[str]:
        return (self.base / "done" / name).read_text().splitlines()

    def log_of(self, name: str) -> dict[str, str]:
        """By action, the boot that it was done in; each once."""
        lines = self.lines_of(name)
        rows = [(action, boot) for action, _, boot in (line.partition(" ") for line in lines)]
        assert len({action for action, _ in rows}) == len(rows), f"one was done twice: {rows}"
        return dict(rows)

    def end_all(self) -> None:
        for name in self.namespaces:
            self.end(name, how=signal.SIGKILL)
        self.stop()


def filled(text: str, fleet: RfcFleet, wheels: Path) -> str:
    names = {"BOOT": BOOT, "BASE": str(fleet.base / "done"), "VERSION": NEW, "WHEELS": str(wheels)}
    for word, value in {**names, "OPT": str(fleet.base / "M3/opt")}.items():
        text = text.replace(word, value)
    return text


def check(found: dict[str, dict[str, Any]]) -> None:
    """What the database has: by action and system, with the chunks that the RFC names."""
    steps = {name: {row["action"]: row["status"] for row in leg["steps"]} for name, leg in found.items()}
    assert steps == EXPECTED, json.dumps(found, default=str)
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
    assert {action: boot.split()[0] for action, boot in logs["M4"].items()} == {"A3": second, "A4": second}
    assert first != second
