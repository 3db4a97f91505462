"""``saltern init``: what it writes works as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.cli.init import FILES
from saltern.cli.main import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert run(["init", str(tmp_path / "site")]) == 0
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path / "site"


def test_the_skeleton_has_no_problems(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--fail-on", "warning"]) == 0
    assert "no problems" in capsys.readouterr().out


def test_it_applies(project: Path) -> None:
    pillar = f"{{motd: {{path: {project}/motd, text: Ahoy}}}}"
    assert run(["apply", "--pillar", pillar, "--no-journal", "--out", "quiet"]) == 0
    assert (project / "motd").read_text().startswith("Ahoy\nThis is ")


def test_its_tests_pass(project: Path) -> None:
    env = {**os.environ, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_nothing_is_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "saltern.yaml").write_text("id: mine\n")
    (project / "README.md").unlink()
    assert run(["init"]) == 0
    assert (project / "saltern.yaml").read_text() == "id: mine\n"
    assert (project / "README.md").read_text() == FILES["README.md"]
    assert "kept ./saltern.yaml" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "/dev/null/x"]) == 1
    assert "Not a directory" in capsys.readouterr().err
