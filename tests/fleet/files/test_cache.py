"""An agent's cache across a loss of power: which tree a job needs, and which trees are trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.system.power import Disk

from saltern.fleet.files.cache import Cache, new_tree

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
    assert trees.pinned_trees() == {"j1": ONE}


@pytest.mark.parametrize("job", ["", ".hidden", "a/b"])
def test_a_name_that_is_not_a_job_is_refused(tmp_path: Path, job: str) -> None:
    with pytest.raises(ValueError, match="is not a job"):
        Cache(str(tmp_path)).trees.pin(job, ONE)


def make(cache: Cache, digest: str, text: str) -> None:
    with new_tree(cache) as place:
        Path(place, "tree.json").write_text(text)
        cache.trees.accept(place, digest)


def test_a_tree_of_another_boot_is_not_trusted_and_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees are not synced: after a loss of power, files of theirs may be empty."""
    cache = Cache(str(tmp_path))
    make(cache, ONE, "before")
    assert cache.trees.has(ONE)
    monkeypatch.setattr("saltern.fleet.files.cache.boot_id", lambda: "the next boot")
    assert not Cache(str(tmp_path)).trees.has(ONE)
    make(cache, ONE, "after")
    assert cache.trees.has(ONE)
    assert Path(cache.trees.path(ONE), "tree.json").read_text() == "after"
    assert os.listdir(tmp_path / "new") == []


def test_a_tree_of_a_build_that_noted_no_boot_is_not_trusted(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path))
    os.mkdir(cache.trees.path(ONE))
    assert not cache.trees.has(ONE)


def test_where_the_boot_is_unknown_a_tree_that_exists_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saltern.fleet.files.cache.boot_id", lambda: "")
    cache = Cache(str(tmp_path))
    make(cache, ONE, "whole")
    assert cache.trees.has(ONE)
