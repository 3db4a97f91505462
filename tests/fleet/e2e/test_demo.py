"""``saltern fleet demo``: from nothing to five systems, and to nothing again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from saltern.cli import exits

COMMAND = [sys.executable, "-m", "saltern", "fleet", "demo"]


def environment(directory: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": "/tmp"}


def place_of(text: str) -> Path:
    found = re.search(r"starting in (\S+)", text)
    assert found is not None, text
    return Path(found[1])


def test_it_shows_a_fleet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done
    assert "5 systems: 5 here, 0 away" in done.stdout
    assert "5 systems: 2 failed, 3 changed" in done.stdout
    assert "salt://db.sls:10" in done.stdout
    assert "2 systems: 2 changed" in done.stdout
    assert "export SALTERN_CONTROLLER=" in done.stdout
    assert not place_of(done.stderr).exists()


def test_an_interrupt_takes_it_down(tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None and running.stdout is not None
        directory = place_of(running.stderr.readline())
        while "saltern fleet" not in (line := running.stdout.readline()):
            assert line, running.stderr.read()
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=120)
        assert running.returncode == exits.INTERRUPTED
    assert not directory.exists()
    left = subprocess.run(["pgrep", "-f", str(directory)], capture_output=True, text=True, check=False)
    assert left.stdout == ""
