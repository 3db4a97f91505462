"""A real Salt master with two minions that run saltern by the extension, for all tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SaltFleet, environment, is_there

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "saltext" / "src"
FULL_RETURN = """\
import json, sys, salt.client
_, config, target, function, *words = sys.argv
print(json.dumps(salt.client.LocalClient(config).cmd(target, function, words, timeout=120, full_return=True)))
"""
MORE = """\
pillar_roots: {{base: [{place}/pillar]}}
loop_interval: 1
saltern:
  program: {program}
  options: {{state_dir: {place}/state-{id}}}
"""


class Salt(SaltFleet):
    """The fleet, and what tests ask of it."""

    def ask(self, target: str, *words: str) -> dict[str, Any]:
        """What each minion returns, with its return code."""
        done = self.command(
            "salt", target, *words, "--static", "--out", "json", "--out-indent", "-1", "-t", "120"
        )
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"salt {words}: {done.stdout}{done.stderr}") from None
        return found

    def details(self, minion: str, *words: str) -> dict[str, Any]:
        """The return of one minion as the master has it: ``ret``, ``retcode`` and ``out``."""
        done = subprocess.run(
            [sys.executable, "-c", FULL_RETURN, str(self.place / "etc-master" / "master"), minion, *words],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)[minion]
        return found

    @contextmanager
    def begun(self, target: str, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command of the master that has begun; it is not waited for."""
        command = self._command("salt", "-c", str(self.place / "etc-master"), target, *words, "-t", "120")
        with subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as job:
            try:
                yield job
            finally:
                job.kill()

    def local(self, minion: str, *words: str, saltern: str) -> str:
        """What ``salt-call`` prints on a minion whose configuration has another ``saltern``."""
        folder = self.place / f"call-{minion}"
        folder.mkdir(exist_ok=True)
        (folder / "minion").write_text(
            f"root_dir: {self.place}/{minion}\nid: {minion}\nfile_client: local\n"
            f"file_roots: {{base: [{self.place}/states]}}\nsaltern: {saltern}\n"
        )
        command = self._command("salt-call", "-c", str(folder), *words)
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def write(self, name: str, text: str) -> None:
        """Write a file of the master's file roots."""
        path = self.place / "states" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salt]:
    if not is_there():
        pytest.skip("needs root, and Salt in build/salt")
    place = tmp_path_factory.mktemp("salt")
    for name in ("states", "pillar"):
        (place / name).mkdir()
    _fill(place)
    salt = Salt(
        place, place / "states", more=MORE.replace("{program}", str(Path(sys.executable).parent / "saltern"))
    )
    try:
        salt.start(("web1", "web2"))
        salt.ask("*", "saltutil.sync_all")
        yield salt
    finally:
        salt.stop()


def _fill(place: Path) -> None:
    command = [sys.executable, "-m", "saltext.saltern", str(place / "states")]
    subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(EXTENSION)}, check=True, stdout=subprocess.DEVNULL
    )
    (place / "pillar" / "top.sls").write_text("base:\n  '*': [who]\n")
    (place / "pillar" / "who.sls").write_text("who: {{ grains.id }}\n")
