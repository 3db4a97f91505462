"""``environ.setenv`` on the environment of this process, put back afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.modules.states import environ


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    for name in ("SALTERN_T_A", "SALTERN_T_B"):
        monkeypatch.setenv(name, "old")
    return Bench(tmp_path, environ)


def test_variables_are_set_emptied_and_removed(bench: Bench) -> None:
    assert bench.change("setenv", "SALTERN_T_A", value="new").changes == {"SALTERN_T_A": "new"}
    done = bench.change("setenv", "several", value={"SALTERN_T_A": 1, "SALTERN_T_B": False})
    assert done.changes == done.data == {"SALTERN_T_A": "1", "SALTERN_T_B": ""}
    done = bench.change("setenv", "SALTERN_T_B", value=False, false_unsets=True)
    assert done.changes == {"SALTERN_T_B": None}
    assert "SALTERN_T_B" not in os.environ


def test_everything_else_can_be_cleared(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    try:
        bench.change("setenv", "SALTERN_T_A", value="x", clear_all=True, false_unsets=True)
        assert dict(os.environ) == {"SALTERN_T_A": "x"}
    finally:
        os.environ.update(before)


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "cannot be the name" in bench.refusal("setenv", "A=B", value="x")
    assert "needs to be a text" in bench.refusal("setenv", "A", value=["x"])
    assert "/etc/environment" in bench.refusal("setenv", "A", value="x", permanent=True)
