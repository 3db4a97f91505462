"""The audit informs: about weaknesses where they can be asked for, about ages where not; it never fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools import audit

LOCK = "pytest==9.0.0 \\\n    --hash=sha256:aa\n# a remark\nno-such-package==1.0 ; python_version > '3'\n"


def test_pins_are_read_from_a_lock() -> None:
    assert audit.pins(LOCK) == [("pytest", "9.0.0"), ("no-such-package", "1.0")]
    assert len(audit.pins((audit.ROOT / "requirements.lock").read_text())) > 20


def test_ages_are_those_of_the_lines_in_the_lock() -> None:
    blame = "aa 1 1 1\ncommitter-time 1000\n\tpytest==9.0.0 \\\ncommitter-time 2000\n\t    --hash=sha256:aa\n"
    times = audit.changed(blame)
    assert times == {"pytest": 1000.0}
    known, unknown = audit.ages(LOCK, times, 1000 + 400 * audit.DAY)
    assert known == "  pytest 9.0.0: 400 days (old)"
    assert unknown == "  no-such-package 1.0: of unknown age"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo Found 1 known vulnerability; exit 1", "Found 1 known vulnerability"),
        ("echo no connection >&2; exit 1", "pinned since"),
    ],
)
def test_an_audit_that_cannot_be_made_or_finds_something_fails_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    shown: str,
) -> None:
    (tmp_path / "pip-audit").write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "pip-audit").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert audit.main() == 0
    assert shown in capsys.readouterr().out
