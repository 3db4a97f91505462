"""The quick tests run with every supported Python that starts here; one that does not is passed over."""

from __future__ import annotations

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
