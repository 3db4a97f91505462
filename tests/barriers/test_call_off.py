"""Ctrl-C at a terminal, while saltern waits for the machine to go down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TREE = """
restart:
  system.reboot:
    - only_on_pending_reboot: false
    - notice: 600
"""


class Place:
    """The reboot of this machine is a file that appears, and to call it off a file that goes."""

    def __init__(self, place: Path, *, cancel: bool) -> None:
        self.asked = place / "asked"
        (place / "states").mkdir()
        (place / "states/restart.sls").write_text(TREE)
        self.config = place / "minion"
        words = {
            "file_roots": {"base": [str(place / "states")]},
            "reboot_command": ["touch", str(self.asked)],
        }
        if cancel:
            words["reboot_cancel_command"] = ["rm", str(self.asked)]
        self.config.write_text(json.dumps(words))
        self.env = {**os.environ, "SALTERN_STATE_DIR": str(place / "state")}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "saltern", *words, "--config", str(self.config)]

    def interrupted(self, *words: str) -> tuple[int, str]:
        """The exit code and what stderr says of a saltern that is interrupted while it waits."""
        process = subprocess.Popen(
            self.command(*words), env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        said = ""
        while "the run continues afterwards" not in said or not self.asked.exists():
            line = process.stderr.readline()
            assert line, said
            said += line
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=200)[1]
        return process.returncode, said

    def status(self) -> str:
        done = subprocess.run(
            self.command("runs", "--out", "json"), env=self.env, capture_output=True, text=True, check=True
        )
        return str(json.loads(done.stdout)["local"][0]["status"])


def test_an_announced_reboot_is_called_off_and_told(tmp_path: Path) -> None:
    place = Place(tmp_path, cancel=True)
    code, said = place.interrupted("apply", "restart")
    assert code == 130
    assert "its reboot is cancelled; `saltern resume" in said
    assert not place.asked.exists()
    assert place.status() == "interrupted"


def test_a_reboot_that_nobody_can_call_off_goes_on_and_that_is_reported(tmp_path: Path) -> None:
    place = Place(tmp_path, cancel=False)
    code, said = place.interrupted("apply", "restart")
    assert code == 6
    assert "its reboot cannot be cancelled: reboot_command is set, but reboot_cancel_command is not" in said
    assert "the run continues after the boot" in said
    assert place.asked.exists()
    assert place.status() == "rebooting"
