"""One fleet for all tests of a module: a real controller, real agents, and the program as users run it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.harness import user_environment

from saltern.cli.local_fleet import LocalFleet

SYSTEMS = ("db1", "web1", "web2")
STATES = {
    "motd.sls": "motd:\n  file.managed:\n    - name: {{ pillar['place'] }}/{{ grains['id'] }}/motd\n"
    "    - contents: This is {{ grains['id'] }}.\n    - makedirs: true\n",
    "broken.sls": "fine:\n  test.nop\n\ncertificate:\n  file.exists:\n"
    "    - name: {{ pillar['place'] }}/{{ grains['id'] }}/absent\n",
    "part.sls": "{% if grains['id'] == 'db1' %}\nwrong:\n  test.fail_without_changes:\n"
    "    - comment: no disk\n"
    "{% else %}\nright:\n  test.succeed_with_changes\n{% endif %}\n",
    "typo.sls": "a:\n  test.nopp\n",
    "brief.sls": "".join(f"s{number}:\n  cmd.run:\n    - name: sleep 0.2\n" for number in range(15)),
    "slow.sls": "".join(f"s{number}:\n  cmd.run:\n    - name: sleep 0.2\n" for number in range(100)),
}


class Place:
    """The fleet, and what its user types."""

    def __init__(self, directory: Path) -> None:
        self.base = directory
        self.env = user_environment(directory)
        self.fleet = LocalFleet(str(directory), self.env)

    def start(self) -> None:
        for name, text in STATES.items():
            self.fleet.write(f"controller/salt/{name}", text)
        self.fleet.write("controller/pillar/top.sls", "base:\n  '*':\n    - place\n")
        self.fleet.write("controller/pillar/place.sls", f"place: {self.base / 'systems'}\n")
        self.fleet.start(SYSTEMS)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "saltern", words[0], "--controller", self.fleet.socket, *words[1:]]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=self.env, cwd=self.base, capture_output=True, text=True, timeout=120
        )

    def data(self, *words: str) -> Any:
        done = self.run(*words, "--out", "json")
        assert done.returncode == 0, done
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp(prefix="sf-")).resolve()  # short: it holds sockets
    here = Place(directory)
    try:
        here.start()
        yield here
    finally:
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)
