"""Chains that install packages, with a real apt and dpkg on agents of a controller: 45, a run is cancelled at
once while they work; and packages are looked up before a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.e2e.conftest import Place
from tests.modules.pkg.conftest import NEEDED, World

from saltern.cli.local_fleet import LocalFleet

CHAIN = """\
chain: install
actions:
  - {id: pkg, packages: {install: [slow-package]}}
  - {id: after, command: 'touch AFTER'}
"""
WAITS = "touch {0}/begun; until [ -e {0}/gate ]; do sleep 0.05; done"


BARE = "p2"  # a system without a package manager
LOOKED_UP = """\
chain: tools
actions:
  - {id: known, transaction: {install: [slow-package]}}
  - {id: unknown, transaction: {latest: [slow-package, no-such-package]}}
  - {id: version, packages: {install: {no-such-package: '1.0'}}}
  - {id: late, transaction: {install: ['${input:name}']}}
  - {id: gone, transaction: {remove: [no-such-package]}}
  - {id: all, transaction: {patch: true}}
"""


class MixedFleet(LocalFleet):
    """In which one system has no package manager."""

    def _spawn(self, name: str, *words: str) -> None:
        path = self._environment["PATH"]
        if name == BARE:
            self._environment["PATH"] = os.path.dirname(sys.executable)
        try:
            super()._spawn(name, *words)
        finally:
            self._environment["PATH"] = path


@pytest.fixture
def world(tmp_path: Path) -> World:
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    made = World(tmp_path)
    made.publish("slow-package", postinst=WAITS.format(tmp_path))
    return made


@pytest.fixture
def place(world: World) -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp(prefix="sp-")).resolve()  # short: it holds sockets
    here = Place(directory)
    here.env |= programs_of(world)
    here.fleet = MixedFleet(str(directory), here.env)
    subprocess.run(["apt-get", "update"], env=here.env, check=True, capture_output=True)
    try:
        here.fleet.start(["p1", BARE])
        yield here
    finally:
        (world.base / "gate").touch()
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_45_a_hard_cancel_leaves_no_package_half_installed(place: Place, world: World) -> None:
    after = place.base / "after"
    (place.base / "install.yaml").write_text(CHAIN.replace("AFTER", str(after)))
    run = place.run("chain", "run", "install.yaml", "--on", "p1", "--detach").stdout.strip()
    place.fleet.wait("the package to be configured", (world.base / "begun").exists)
    said = place.run("chain", "cancel", run, "--now", "--reason", "enough")
    assert "run: running → cancelling" in said.stdout, said

    def is_acknowledged() -> bool:
        leg = json.loads(place.run("chain", "show", run, "p1", "--out", "json").stdout)
        return any(row["verb"] == "cancel" and row["acked"] for row in leg["orders"])

    place.fleet.wait("the system to answer the cancel", is_acknowledged)
    assert dpkg(world) == "half-configured", "it waits in its script"
    shown = place.run("chain", "show", run, "p1")
    assert "running" in shown.stdout, shown
    (world.base / "gate").touch()
    place.run("chain", "watch", run)
    leg = json.loads(place.run("chain", "show", run, "p1", "--out", "json").stdout)
    found = {row["action"]: row["status"] for row in leg["steps"]}
    assert (leg["status"], found) == ("cancelled", {"pkg": "succeeded", "after": "cancelled"})
    assert dpkg(world) == "installed"
    assert not after.exists()


def test_packages_of_transactions_are_looked_up_on_each_system(place: Place) -> None:
    """Not those that are removed, or named by an input; a system that cannot look is named."""
    (place.base / "tools.yaml").write_text(LOOKED_UP)
    done = place.run("chain", "validate", "tools.yaml", "--on", "p*", "--out", "json")
    rows = json.loads(done.stdout)
    found = [(row["level"], row["action"], row["systems"], row["what"]) for row in rows]
    lacks = "no repository there has the package 'no-such-package'"
    assert {row[1] for row in found if "snapshot" in row[3]} == {"known", "unknown", "late", "gone", "all"}
    assert [row for row in found if "package" in row[3]] == [
        ("error", "unknown", ["p1"], lacks),
        ("error", "version", ["p1"], lacks),
        ("warning", "", [BARE], "packages were not looked up, because the query failed"),
    ], done


def programs_of(world: World) -> dict[str, str]:
    """What sends apt and dpkg to a world of their own."""
    return {
        "APT_CONFIG": str(world.base / "apt.conf"),
        "DPKG_ADMINDIR": str(world.root / "var/lib/dpkg"),
        "DPKG_ROOT": str(world.root),
    }


def dpkg(world: World) -> str:
    """What the package database says of the package; it must be consistent."""
    env = {**os.environ, **programs_of(world)}
    words = ["dpkg-query", "-W", "-f", "${db:Status-Status}", "slow-package"]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
