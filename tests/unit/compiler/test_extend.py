"""How an extension and what it extends become one."""

from __future__ import annotations

import pytest
from tests.kit import Written

from saltern.compiler.extend import extend
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import Declaration, Exclusion, Extension, High
from saltern.language.source import SlsRef

MAIN, OTHER = SlsRef("base", "main"), SlsRef("base", "other")


def declared(id_: str = "a", state: str = "test", items: list[object] | None = None) -> Declaration:
    return Declaration(
        id=id_,
        state=state,
        key=f"{state}.nop",
        items=items or ["nop"],
        ref=OTHER,
        origin=Written(),
        order=10000,
    )


def extension(id_: str, bodies: dict[str, object], ref: SlsRef = MAIN) -> Extension:
    return Extension(id=id_, bodies=bodies, ref=ref, origin=Written(f"{ref.name}.sls"))


def extended(items: list[object], *bodies: dict[str, object]) -> tuple[list[object], Diagnostics]:
    found = Diagnostics()
    high = High(declarations=[declared(items=items)], extensions=[extension("a", body) for body in bodies])
    return extend(high, found).declarations[0].items, found


@pytest.mark.parametrize(
    ("items", "body", "result"),
    [
        (["nop"], [{"comment": "x"}], ["nop", {"comment": "x"}]),
        ([{"comment": "old"}, "nop"], [{"comment": "new"}], [{"comment": "new"}, "nop"]),
        ([{"list": [1]}, "nop"], [{"list": [2]}], [{"list": [2]}, "nop"]),
        ([{"require": ["a"]}, "nop"], [{"require": ["b"]}], [{"require": ["a", "b"]}, "nop"]),
        ([{"listen_in": ["a"]}, "nop"], [{"listen_in": ["b"]}], [{"listen_in": ["a", "b"]}, "nop"]),
        ([{"names": ["x"]}, "nop"], [{"name": "y"}], ["nop", {"name": "y"}]),
        ([{"name": "x"}, "nop"], [{"name": "y"}], [{"name": "y"}, "nop"]),
        ([{"a": 1, "b": 2}, "nop"], [{"b": 3}], [{"a": 1, "b": 3}, "nop"]),
        ([{"a": 1}, "nop"], ["other"], [{"a": 1}, "other"]),
        (["nop"], [], ["nop"]),
    ],
)
def test_one_argument_at_a_time(items: list[object], body: list[object], result: list[object]) -> None:
    before = repr(items)
    got, found = extended(items, {"test": body})
    assert got == result
    assert not found
    assert repr(items) == before  # what was declared is not changed


def test_the_same_extension_twice_counts_once() -> None:
    got, _ = extended(["nop"], {"test": [{"require": ["b"]}]}, {"test": [{"require": ["b"]}]})
    assert got == ["nop", {"require": ["b"]}]


def test_a_later_extension_wins_and_that_is_reported_if_it_is_from_another_file() -> None:
    found = Diagnostics()
    high = High(
        declarations=[declared()],
        extensions=[extension("a", {"test": [{"x": 1}]}), extension("a", {"test": [{"x": 2}]}, OTHER)],
    )
    assert extend(high, found).declarations[0].items == ["nop", {"x": 2}]
    (warning,) = found.warnings
    assert warning.code == "extend-overridden"


def test_the_words_of_the_engine_are_known_after_an_extension() -> None:
    high = High(declarations=[declared()], extensions=[extension("a", {"test": [{"order": 1}, {"x": 2}]})])
    assert extend(high, Diagnostics()).declarations[0].words == {"order"}


def test_a_new_type_below_a_known_id_is_a_new_state_without_number() -> None:
    high = High(declarations=[declared()], extensions=[extension("a", {"cmd.run": [{"name": "true"}]})])
    both = extend(high, Diagnostics()).declarations
    assert [(one.state, one.fun, one.order) for one in both] == [("test", "nop", 10000), ("cmd", "run", None)]


def test_a_state_is_found_by_its_name_and_by_a_member_of_names() -> None:
    named: list[object] = [{"name": "n"}, {"names": ["m", "n"]}, {"names": [{"n": []}]}]
    for item in named:
        found = Diagnostics()
        high = High(
            declarations=[declared(items=["nop", item])], extensions=[extension("n", {"test": [{"x": 1}]})]
        )
        assert {"x": 1} in extend(high, found).declarations[0].items
        assert not found


@pytest.mark.parametrize(
    ("declarations", "code"),
    [
        ([], "extend-unknown"),
        (
            [declared("b", items=["nop", {"name": "a"}]), declared("c", items=["nop", {"name": "a"}])],
            "extend-ambiguous",
        ),
        ([declared("b", "cmd", ["run", {"name": "a"}])], "extend-unknown"),
    ],
)
def test_what_cannot_be_found_is_reported(declarations: list[Declaration], code: str) -> None:
    found = Diagnostics()
    extend(High(declarations=declarations, extensions=[extension("a", {"test": []})]), found)
    assert [one.code for one in found.errors] == [code]


def test_the_extensions_of_an_excluded_file_are_dropped() -> None:
    high = High(
        declarations=[declared()],
        extensions=[extension("a", {"test": [{"x": 1}]}, OTHER)],
        exclusions=[Exclusion(sls="other")],
    )
    assert extend(high, Diagnostics()).declarations[0].items == ["nop"]
