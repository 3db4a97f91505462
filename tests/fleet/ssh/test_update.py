"""Another build of saltern in the middle of a run over SSH, where the running one is a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.barriers.builds import BROKEN, NEW, SPOILT
from tests.barriers.wheels import build, pack_dependencies
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_apply import Laptop

STATES = """
before:
  cmd.run:
    - name: echo before >> {place}/log

update:
  saltern.updated:
    - version: {version}
    - source: {wheels}
    - slots: {place}/opt
    - require:
      - cmd: before

after:
  cmd.run:
    - name: echo after >> {place}/log
    - require:
      - saltern: update

whatever:
  cmd.run:
    - name: echo whatever in $(tr '\\0' ' ' < /proc/$PPID/cmdline) >> {place}/log
    - order: last
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheels")
    for version in (NEW, BROKEN):
        build(place, version, SPOILT[version])
    pack_dependencies(place)
    return place


@pytest.fixture(scope="module")
def laptop(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Laptop:
    found = Laptop(tmp_path_factory.mktemp("laptop"), server)
    found.hosts("web1")
    return found


def applied(
    laptop: Laptop, version: str, wheels: Path, place: Path
) -> tuple[int, dict[str, dict[str, object]]]:
    laptop.sls(STATES.format(place=place, version=version, wheels=wheels))
    process = laptop.start("apply", "web", "--out=json")
    out, err = process.communicate(timeout=300)
    assert isinstance(json.loads(out)["web1"], dict), out + err
    states: dict[str, dict[str, object]] = json.loads(out)["web1"]
    return process.returncode, {str(one["__id__"]): one for one in states.values()}


def test_a_run_continues_in_the_new_build(laptop: Laptop, wheels: Path, tmp_path: Path) -> None:
    code, states = applied(laptop, NEW, wheels, tmp_path)
    assert code == 0, states
    assert all(one["result"] for one in states.values())
    before, after, whatever = (tmp_path / "log").read_text().splitlines()
    assert (before, after) == ("before", "after")
    assert f"{tmp_path}/opt" in whatever


def test_a_build_that_does_not_come_up_is_a_failure_and_the_rest_is_done(
    laptop: Laptop, wheels: Path, tmp_path: Path
) -> None:
    code, states = applied(laptop, BROKEN, wheels, tmp_path)
    assert code == 2
    assert {name: one["result"] for name, one in states.items()} == {
        "before": True,
        "update": False,
        "after": False,
        "whatever": True,
    }
    assert (tmp_path / "log").read_text().count("before") == 1


def test_programs_of_states_do_not_import_our_libraries(laptop: Laptop, tmp_path: Path) -> None:
    laptop.sls(f"look:\n  cmd.run:\n    - name: env > {tmp_path}/env\n")
    assert laptop.run("apply", "web").returncode == 0
    found = (tmp_path / "env").read_text()
    assert "/bundles/" not in found
    assert "PYTHONPATH" not in found
