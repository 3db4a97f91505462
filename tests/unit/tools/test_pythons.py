"""The quick tests run with every supported Python that starts here; one that does not is passed over."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools import pythons

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_an_interpreter_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / f"python{OWN}", f'exec "{sys.executable}" "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pythons.find(OWN) == str(tmp_path / f"python{OWN}")


def test_one_that_does_not_start_or_is_another_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "python3.12", "exit 127")
    script(tmp_path / "python3.13", "echo Python 3.1.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pythons.find("3.12") is None
    assert pythons.find("3.13") is None
    assert pythons.find("3.99") is None


def test_behind_a_launcher_of_pyenv_its_versions_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "shims" / "python3.12", "exit 127")
    script(tmp_path / "versions" / "3.12.1" / "bin" / "python3.12", "echo Python 3.12.1")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    assert pythons.find("3.12") == str(tmp_path / "versions" / "3.12.1" / "bin" / "python3.12")


def test_a_python_that_is_missing_is_named_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert pythons.main() == 0
    assert capsys.readouterr().out.count("not found on this machine; skipped") == len(pythons.SUPPORTED) - 1


def test_what_is_left_out_of_an_installation_is_in_the_lock(tmp_path: Path) -> None:
    """So that a name that is not pinned any more does not stay in the table."""
    kept = pythons.write_requirements(tmp_path).read_text()
    lock = (pythons.ROOT / "requirements.lock").read_text()
    for name in pythons.LEFT_OUT:
        assert f"\n{name}==" in lock
        assert f"\n{name}==" not in kept
    pins = [len(re.findall(r"(?m)^[\w.-]+==", text)) for text in (kept, lock)]
    assert "\nmsgspec==" in kept and pins[0] == pins[1] - len(pythons.LEFT_OUT)
