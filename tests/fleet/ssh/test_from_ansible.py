"""``examples/from-ansible``: Ansible and saltern, with one inventory and one sshd, leave the same behind."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fleet.ssh.server import Server
from tests.modules.ansible.plays import program

EXAMPLE = Path(__file__).parents[3] / "examples" / "from-ansible"
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "from-ansible.md"
HOSTS = ("web1", "web2")
Left = dict[str, tuple[int, str]]


class Project:
    """A copy of the example whose hosts are one sshd. The inventory is as it is: what this machine needs is
    in ``host_vars`` beside it, which both tools read."""

    def __init__(self, directory: Path, server: Server, sockets: Path) -> None:
        shutil.copytree(EXAMPLE, directory)
        self.directory = directory
        self.sockets = sockets
        self.home = directory / "home"
        self.home.mkdir()
        for host in HOSTS:
            path = directory / "host_vars" / f"{host}.yml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(self._variables(host, server)))

    def root(self, host: str) -> Path:
        return self.directory / "out" / host

    def _variables(self, host: str, server: Server) -> dict[str, object]:
        return {
            "ansible_host": "127.0.0.1",
            "ansible_port": server.port,
            "ansible_user": getpass.getuser(),
            "ansible_ssh_private_key_file": str(server.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={server.known_hosts} -o IdentityAgent=none",
            "ansible_python_interpreter": sys.executable,
            "saltern_directory": str(self.home / host),
            "root": str(self.root(host)),
        }

    def ansible(self) -> str:
        playbook = program()
        if playbook is None:
            pytest.skip("needs ansible-core: make engines")
        return self._run(
            [playbook, "-i", "hosts.ini", "playbook.yml"],
            ANSIBLE_HOME=str(self.home / "ansible"),
            ANSIBLE_REMOTE_TEMP=str(self.home / "remote"),
            ANSIBLE_PIPELINING="1",
            ANSIBLE_SSH_ARGS="-o ControlMaster=auto -o ControlPersist=2",  # it keeps our pipes open so long
            ANSIBLE_SSH_CONTROL_PATH_DIR=str(self.sockets),
            LC_ALL="C.UTF-8",
        )

    def saltern(self) -> str:
        words = ["apply", "web", "--on", "@web", "--roster", "hosts.ini", "--file-root", "states"]
        return self._run([sys.executable, "-P", "-m", "saltern", *words, "--out=json"])

    def _run(self, command: list[str], **environ: str) -> str:
        given = {"PATH": os.environ["PATH"], "HOME": str(self.home), **environ}
        done = subprocess.run(
            command, cwd=self.directory, env=given, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def left(self) -> Left:
        """Modes and texts of all that is there now, which is removed."""
        out = self.directory / "out"
        found = {
            str(path.relative_to(out)): (path.stat().st_mode, path.read_text() if path.is_file() else "")
            for path in out.rglob("*")
        }
        shutil.rmtree(out)
        return found


def ansible_changes(printed: str) -> int:
    return sum(int(count) for count in re.findall(r"changed=(\d+)", printed))


def saltern_changes(printed: str) -> int:
    return sum(bool(one["changes"]) for states in json.loads(printed).values() for one in states.values())


def twice(run: Callable[[], str], changes: Callable[[str], int], project: Project) -> Left:
    """What two runs leave behind. The first changes something, the second nothing."""
    (project.directory / "out").mkdir()
    assert changes(run()) > 0
    assert changes(run()) == 0
    return project.left()


@pytest.fixture
def project(server: Server, tmp_path: Path, sockets: Path) -> Project:
    return Project(tmp_path / "project", server, sockets)


@pytest.mark.slow
def test_both_leave_the_same_behind(project: Project) -> None:
    theirs = twice(project.ansible, ansible_changes, project)
    ours = twice(project.saltern, saltern_changes, project)
    assert ours == theirs
    assert ours["web2/log"][1] == "reloaded\n"
    assert "web1/status" not in ours
    assert "web2/status" in ours


def test_the_guide_shows_the_files_of_the_example() -> None:
    """Every line of the project that the guide shows is a line of the example."""
    shown = re.findall(r"```(?:yaml|jinja|ini)\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert {name for name, _ in shown} == {"hosts.ini", "playbook.yml", "states/web.sls"}
    for name, text in shown:
        whole = (EXAMPLE / name).read_text()
        for part in text.split("# …\n"):
            assert part.strip("\n") in whole, f"{name}: {part}"
