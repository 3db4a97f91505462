"""45: a run is cancelled at once while a real apt and dpkg install a package, on an agent of a controller."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
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
    here.fleet = LocalFleet(str(directory), here.env)
    subprocess.run(["apt-get", "update"], env=here.env, check=True, capture_output=True)
    try:
        here.fleet.start(["p1"])
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
