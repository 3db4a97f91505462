"""Files and what they include, without any file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from saltern.compiler.compile import CompilerOptions, compile_high, compile_low
from saltern.compiler.gather import gather
from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.language.source import Mark, Path, SlsRef


class Text:
    """A rendered file whose marks are the way to the value."""

    def __init__(self, ref: SlsRef, data: object) -> None:
        self.ref = ref
        self.data = data
        self.file = f"{ref.name}.sls"
        self.is_init = False

    def mark(self, path: Path = ()) -> Mark:
        return Mark("/".join([self.file, *map(str, path)]))


class Texts:
    """A loader over data. Also counts how often each file is loaded."""

    def __init__(self, files: Mapping[str, object]) -> None:
        self.files = files
        self.loaded: list[str] = []

    def load(self, ref: SlsRef) -> Text | None:
        self.loaded.append(ref.name)
        return Text(ref, self.files[ref.name]) if ref.name in self.files else None

    def names(self, env: str) -> list[str]:
        return sorted(self.files)

    def where(self, ref: SlsRef) -> Mark | None:
        return None

    def knows(self, env: str) -> bool:
        return env == "base"


def ids(files: Mapping[str, object], *names: str) -> list[str]:
    found = Diagnostics()
    high = gather([SlsRef("base", name) for name in names], Texts(files), found)
    found.check()
    return [declared.id for declared in high.declarations]


def test_a_long_chain_of_includes_is_no_problem() -> None:
    files: dict[str, object] = {f"f{n}": {"include": [f"f{n + 1}"], f"s{n}": "test.nop"} for n in range(3000)}
    files["f3000"] = {"s3000": "test.nop"}
    assert ids(files, "f0") == [f"s{n}" for n in range(3000, -1, -1)]


def test_each_file_is_loaded_once() -> None:
    loader = Texts(
        {"a": {"include": ["c"]}, "b": {"include": ["c"]}, "c": {"include": ["a"], "s": "test.nop"}}
    )
    gather([SlsRef("base", "a"), SlsRef("base", "b")], loader, Diagnostics())
    assert sorted(loader.loaded) == ["a", "b", "c"]


def test_a_state_knows_through_which_files_it_came() -> None:
    files = {"a": {"include": ["b"]}, "b": {"include": ["c"]}, "c": {"s": "test.nop"}}
    high = gather([SlsRef("base", "a")], Texts(files), Diagnostics())
    assert high.declarations[0].included_from == ("b", "a")


def test_numbers_skip_states_with_an_order_of_their_own() -> None:
    files = {"a": {"x": {"test.nop": [{"order": 1}]}, "y": "test.nop", "z": "test.nop"}}
    high = gather([SlsRef("base", "a")], Texts(files), Diagnostics())
    assert [declared.order for declared in high.declarations] == [None, 10000, 10001]
    high = gather([SlsRef("base", "a")], Texts(files), Diagnostics(), auto_order=False)
    assert [declared.order for declared in high.declarations] == [None, None, None]


def test_compiling_does_not_change_what_was_loaded() -> None:
    data = {
        "a": {
            "test.nop": [{"require": [{"test": "b"}]}, {"order": "last"}, {"names": ["x", {"y": [{"c": 1}]}]}]
        },
        "b": {"test.nop": [{"require_in": [{"test": "c"}]}, {"use": [{"test": "c"}]}]},
        "c": {"test.nop": [{"comment": [1, 2]}]},
        "extend": {"c": {"test": [{"comment": [3]}]}},
    }
    before = repr(data)
    found = Diagnostics()
    high = compile_high([SlsRef("base", "main")], Texts({"main": data}), CompilerOptions(), found)
    low = compile_low(high, CompilerOptions(), lambda state: True, found)
    assert len(low.chunks) == 4
    assert repr(data) == before


def test_all_problems_of_all_files_travel_together() -> None:
    files = {"a": {"include": ["b", "gone"], "x": None}, "b": {"y": 5, "z": {"test.nop": None}}}
    with pytest.raises(CompileError) as problem:
        compile_high(
            [SlsRef("base", "a"), SlsRef("nowhere", "c")], Texts(files), CompilerOptions(), Diagnostics()
        )
    codes = sorted(one.code for one in problem.value.diagnostics)
    assert codes == ["env-not-found", "id-not-mapping", "id-not-mapping", "short-form-colon", "sls-not-found"]
