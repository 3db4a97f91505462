"""The pins of an agent's cache: which tree a job needs, across a loss of power."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.system.power import Disk

from saltern.fleet.files.cache import Cache

ONE, TWO = "1" * 64, "2" * 64


def test_a_pin_outlives_a_loss_of_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = Cache(str(tmp_path)).trees
    disk = Disk(monkeypatch)
    for tree in (ONE, TWO):
        trees.pin("j1", tree)
        assert disk.after_loss(tmp_path / "pins") == {"j1": tree.encode()}


def test_the_same_pin_is_written_once(tmp_path: Path) -> None:
    trees = Cache(str(tmp_path)).trees
    trees.pin("j1", ONE)
    before = os.stat(tmp_path / "pins" / "j1").st_ino
    trees.pin("j1", ONE)
    assert os.stat(tmp_path / "pins" / "j1").st_ino == before


def test_what_a_killed_agent_left_beside_a_pin_is_no_pin(tmp_path: Path) -> None:
    trees = Cache(str(tmp_path)).trees
    trees.pin("j1", ONE)
    (tmp_path / "pins" / ".j2.saltern-left").write_text(TWO)
    assert trees.pinned() == {"j1": ONE}


@pytest.mark.parametrize("job", ["", ".hidden", "a/b"])
def test_a_name_that_is_not_a_job_is_refused(tmp_path: Path, job: str) -> None:
    with pytest.raises(ValueError, match="is not a job"):
        Cache(str(tmp_path)).trees.pin(job, ONE)
