"""Data of plain state files on disk: the same data, never out of date, never of another user."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.render.yaml import read
from saltern.render.yaml_cache import FORMAT, MISSING, MOST, YamlCache
from saltern.render.yaml_limits import USUAL, Limits, YamlProblem

TEXT = "a:\n  test.nop:\n    - x: 1\n"


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    YamlCache(str(tmp_path)).put(TEXT, USUAL, read(TEXT))
    assert YamlCache(str(tmp_path)).get(TEXT, USUAL) == {"a": {"test.nop": [{"x": 1}]}}


def test_another_text_and_other_limits_are_not_there(tmp_path: Path) -> None:
    cache = YamlCache(str(tmp_path))
    cache.put(TEXT, USUAL, read(TEXT))
    assert cache.get(TEXT + " ", USUAL) is MISSING
    assert cache.get(TEXT, Limits(depth=1)) is MISSING
    assert cache.get(TEXT, Limits(nodes=3)) is MISSING


@given(st.text(alphabet="ab:- \n'\"01.e~<&*{}[]!#|>,tru", max_size=40))
def test_any_text_means_the_same_with_and_without(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    cache = YamlCache(str(tmp_path_factory.mktemp("cache")))
    try:
        data = read(text)
    except YamlProblem:
        return
    cache.put(text, USUAL, data)
    kept = cache.get(text, USUAL)
    assert kept is MISSING or repr(kept) == repr(data)


@pytest.mark.parametrize("at", range(0, 30, 3))
def test_damage_is_noticed(tmp_path: Path, at: int) -> None:
    cache = YamlCache(str(tmp_path))
    cache.put(TEXT, USUAL, read(TEXT))
    (entry,) = (tmp_path / f"yaml-{FORMAT}").iterdir()
    data = bytearray(entry.read_bytes())
    data[at % len(data)] ^= 1
    entry.write_bytes(data)
    assert cache.get(TEXT, USUAL) is MISSING
    entry.write_bytes(data[:at])
    assert cache.get(TEXT, USUAL) is MISSING


def test_entries_and_their_directory_are_the_users_alone(tmp_path: Path) -> None:
    YamlCache(str(tmp_path)).put(TEXT, USUAL, read(TEXT))
    folder = tmp_path / f"yaml-{FORMAT}"
    (entry,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_a_directory_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    YamlCache(str(tmp_path)).put(TEXT, USUAL, read(TEXT))
    os.chmod(tmp_path / f"yaml-{FORMAT}", 0o777)
    cache = YamlCache(str(tmp_path))
    assert cache.get(TEXT, USUAL) is MISSING
    cache.put("b: 1\n", USUAL, {"b": 1})
    assert len(list((tmp_path / f"yaml-{FORMAT}").iterdir())) == 1


def test_a_place_that_cannot_be_written_is_no_problem() -> None:
    cache = YamlCache("/dev/null/x")
    cache.put(TEXT, USUAL, {})
    assert cache.get(TEXT, USUAL) is MISSING


def test_too_many_entries_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / f"yaml-{FORMAT}"
    folder.mkdir(mode=0o700)
    for number in range(MOST + 1):
        (folder / f"old{number}").touch()
    YamlCache(str(tmp_path)).put(TEXT, USUAL, read(TEXT))
    assert len(list(folder.iterdir())) < MOST
    assert YamlCache(str(tmp_path)).get(TEXT, USUAL) is not MISSING
