"""Templates that are compiled ahead, by several processes, are those that would have been compiled anyway."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import kit

from saltern.lint.check import check
from saltern.lint.choices import choose
from saltern.render.jinja import ahead
from saltern.render.jinja.bulk import Bulk
from saltern.render.jinja.cache import DiskCache

COUNT = 120
FILES = {
    "map.jinja": "{% import_yaml 'defaults.yaml' as defaults %}{% set config = defaults %}",
    "defaults.yaml": "name: x\n",
    "broken.sls": "{% if %}\n",
    "late.sls": "a0:\n  test.nop: []\n#!delayed_block b\n{{ prev_ret }}\n#!end_delayed_block\n",
    **{
        f"s{at}.sls": f"{{% from 'map.jinja' import config %}}\na{at}:\n  test.nop:\n"
        f"    - name: {{{{ config.name }}}}\n    - require:\n      - test: gone{at % 3}\n"
        for at in range(COUNT)
    },
}


@pytest.fixture
def tree() -> Iterator[kit.Tree]:
    with kit.tree(FILES) as made:
        yield made


def told(made: kit.Tree) -> list[str]:
    return [made.short(one) for one in check(made.session(), [], choose({}, (), ())).problems]


def compiled_files(made: kit.Tree) -> list[str]:
    (folder,) = os.listdir(f"{made.place}/cache")
    return sorted(os.listdir(f"{made.place}/cache/{folder}"))


def test_a_check_finds_the_same_with_and_without(tree: kit.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(tree)
    assert compiled_files(tree) == ["bulk"], "what the files import is found, too"
    assert told(tree) == found, "from what was kept"
    monkeypatch.setattr(ahead, "LEAST", 10_000)
    with kit.tree(FILES) as other:
        assert told(other) == found
        assert "bulk" not in compiled_files(other)


def test_where_no_process_can_be_started_one_does_it_all(
    tree: kit.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        raise BlockingIOError

    monkeypatch.setattr(ahead, "_processes", lambda: 4)
    monkeypatch.setattr(os, "fork", refused)
    told(tree)
    assert compiled_files(tree) == ["bulk"]


def test_a_text_that_changed_is_compiled_anew(tree: kit.Tree) -> None:
    told(tree)
    with open(f"{tree.place}/states/base/s0.sls", "w", encoding="utf-8") as file:
        file.write("{{ 'new' }}:\n  test.nop: []\n")
    assert not any("s0.sls" in one for one in told(tree))
    assert len(compiled_files(tree)) == 2, "one file beside the many"
    assert not any("s0.sls" in one for one in told(tree))


# -- many in one file ---------------------------------------------------------------------------------


def test_what_is_added_is_there_beside_what_was(tmp_path: Path) -> None:
    path = str(tmp_path / "bulk")
    Bulk(path).add({"a": b"one", "b": b""})
    kept = Bulk(path)
    kept.add({"a": b"new", "c": b"three"})
    for some in (kept, Bulk(path)):
        assert [some.get(key) for key in "abcd"] == [b"new", b"", b"three", None]
        assert "a" in some and "d" not in some
    assert os.listdir(tmp_path) == ["bulk"]


def test_a_file_that_has_grown_too_large_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saltern.render.jinja.bulk.MOST", 10)
    some = Bulk(str(tmp_path / "bulk"))
    some.add({"a": b"x" * 11})
    some.add({"b": b"y"})
    assert (some.get("a"), some.get("b")) == (None, b"y")


@pytest.mark.parametrize("data", [b"", b"saltern", b"saltern\x01" + b"\xff" * 8 + b"x", b"other" * 9])
def test_a_file_that_is_something_else_holds_nothing(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "bulk").write_bytes(data)
    assert Bulk(str(tmp_path / "bulk")).get("a") is None
    assert not DiskCache(str(tmp_path)).has("a")


def test_a_directory_that_cannot_be_written_costs_nothing_but_speed(tmp_path: Path) -> None:
    some = Bulk(str(tmp_path / "gone" / "bulk"))
    some.add({"a": b"x"})
    assert some.get("a") is None
