"""Updates with real builds: two versions of this tree as wheels, in real virtual environments."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.barriers.builds import BROKEN, HANGING, NEW, OLD
from tests.barriers.wheels import make_slot

TREE = """
before:
  cmd.run:
    - name: echo before >> {place}/log

update:
  saltern.updated:
    - version: {version}
    - source: {wheels}
    - slots: {place}/opt
    - deadline: {deadline}
    - require:
      - cmd: before

after:
  cmd.run:
    - name: echo after $(readlink {place}/opt/current) >> {place}/log
    - require:
      - saltern: update

whatever:
  cmd.run:
    - name: echo whatever $(readlink {place}/opt/current) >> {place}/log
"""


class Site:
    def __init__(self, place: Path, wheels: Path, version: str, deadline: float = 300) -> None:
        self.place = place
        make_slot(place / "opt", wheels, OLD)
        text = TREE.format(place=place, wheels=wheels, version=version, deadline=deadline)
        (place / "states").mkdir()
        (place / "states" / "top.sls").write_text(text)
        (place / "states" / "only.sls").write_text(text)
        self.env = {**os.environ, "SALTERN_STATE_DIR": str(place / "state")}

    def saltern(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = self.place / "opt/current/bin/python"
        roots = ["--file-root", str(self.place / "states")]
        command = [str(program), "-m", "saltern", *words, *roots, "--out", "json"]
        return subprocess.run(command, env=self.env, capture_output=True, text=True)

    def apply(self) -> subprocess.CompletedProcess[str]:
        return self.saltern("apply", "only")

    def status(self) -> str:
        return str(json.loads(self.saltern("runs").stdout)["local"][0]["status"])

    def ends(self, within: float = 300) -> str:
        end = time.monotonic() + within
        while self.status() in ("updating", "running", "broken") and time.monotonic() < end:
            time.sleep(0.5)
        return self.status()

    @property
    def log(self) -> list[str]:
        return (self.place / "log").read_text().splitlines()

    @property
    def current(self) -> str:
        return os.readlink(self.place / "opt/current")


def test_the_run_goes_on_in_the_new_build_and_tells_all_of_it(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, NEW)
    done = site.apply()
    assert done.returncode == 0, done.stdout + done.stderr
    told = {one["__id__"]: one for one in json.loads(done.stdout)["local"].values()}
    assert told["update"]["changes"] == {"saltern": {"old": OLD, "new": NEW}}
    assert site.log == ["before", "after slots/b", "whatever slots/b"]
    assert site.status() == "succeeded"
    assert sorted(os.listdir(tmp_path / "opt")) == ["current", "previous", "slots"]
    again = site.apply()  # it is that version already: nothing is done
    assert again.returncode == 0
    assert json.loads(again.stdout)["local"]["saltern_|-update_|-update_|-updated"]["changes"] == {}
    assert site.current == "slots/b"


@pytest.mark.parametrize("version", [BROKEN, HANGING])
def test_a_build_that_does_not_come_up_is_put_back_and_the_old_one_goes_on(
    tmp_path: Path, wheels: Path, version: str
) -> None:
    site = Site(tmp_path, wheels, version, deadline=5)
    site.apply()
    assert site.ends() == "failed"
    assert site.current == "slots/a"
    assert site.log == ["before", "whatever slots/a"]
    assert not (tmp_path / "opt/updating").exists()
    assert not (tmp_path / "opt/rolled-back").exists()


def test_a_build_that_is_not_there_fails_the_state_and_touches_nothing(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, "9.9.9")
    done = site.apply()
    assert done.returncode == 2
    assert "cannot install the build" in done.stdout
    assert site.current == "slots/a"
    assert site.log == ["before", "whatever slots/a"]
