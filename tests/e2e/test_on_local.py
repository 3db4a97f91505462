"""``--on local`` is this machine: no controller is asked, and nothing of the fleet is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from saltern.cli.main import run
code = run(sys.argv[1:])
assert code or not [name for name in sys.modules if name.startswith("saltern.fleet")]
sys.exit(code)
"""


def saltern(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, *words],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "HOME": str(place),
            "SALTERN_STATE_DIR": f"{place}/state",
            "SALTERN_CONTROLLER": f"{place}/nowhere.sock",
        },
    )


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "one", "--on", "local", "--file-root", "{}/salt"),
        ("apply", "one", "--on=local", "--file-root", "{}/salt"),
        ("plan", "one", "--on", "local", "--file-root", "{}/salt"),
        ("show", "sls", "one", "--on", "local", "--file-root", "{}/salt"),
        ("call", "test.ping", "--on", "local"),
        ("single", "test.succeed_without_changes", "name=x", "--on", "local"),
    ],
)
def test_it_is_done_here_and_no_controller_is_asked(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "salt").mkdir()
    (tmp_path / "salt" / "one.sls").write_text("a:\n  test.succeed_without_changes: []\n")
    done = saltern(tmp_path, *(word.format(tmp_path) for word in words))
    assert done.returncode == 0, done.stderr


def test_a_system_that_is_called_so_is_one_of_the_fleet(tmp_path: Path) -> None:
    done = saltern(tmp_path, "call", "test.ping", "--on", "L@local")
    assert done.returncode == 1
    assert "nowhere.sock" in done.stderr
