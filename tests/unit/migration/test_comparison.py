"""Low data and results of Salt beside ours: what differs, and what only looks different."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.migration.comparison import compare_low, compare_results


def low(id: str, **more: Any) -> dict[str, Any]:
    return {
        "state": "file",
        "fun": "managed",
        "__id__": id,
        "name": f"/{id}",
        "__sls__": "web",
        "order": 1,
        **more,
    }


def facts(
    salt: list[dict[str, Any]], ours: list[dict[str, Any]], **how: bool
) -> list[tuple[str, str, Any, Any]]:
    return [(one.id, one.about, one.salt, one.saltern) for one in compare_low(salt, ours, **how)]


def test_what_only_one_of_them_has() -> None:
    assert facts([low("a"), low("b")], [low("b"), low("c")]) == [
        ("a", "missing", "/a", None),
        ("c", "additional", None, "/c"),
    ]


def test_arguments_that_differ_and_those_that_only_one_has() -> None:
    found = facts([low("a", mode="0644", user="x")], [low("a", mode="0600", group="g", order=7)])
    assert found == [
        ("a", "mode", "0644", "0600"),
        ("a", "user", "x", None),
        ("a", "group", None, "g"),
    ]


def test_the_order_counts_among_those_that_both_have() -> None:
    assert facts([low("a"), low("b"), low("x")], [low("b"), low("a")]) == [
        ("x", "missing", "/x", None),
        ("b", "order", 2, 1),
        ("a", "order", 1, 2),
    ]


def test_requisites_have_no_order() -> None:
    first, second = {"pkg": "p"}, {"file": "f"}
    assert facts([low("a", require=[first, second])], [low("a", require=[second, first])]) == []


@pytest.mark.parametrize(("ours", "count"), [([{"pkg": "p"}, {"file": "f"}], 0), ([{"file": "f"}], 1)])
def test_salt_leaves_out_what_in_forms_add_for_named_files(ours: list[object], count: int) -> None:
    salt = [low("a", require=[{"pkg": "p"}])]
    assert len(facts(salt, [low("a", require=ours)], whole=False)) == count
    assert len(facts(salt, [low("a", require=ours)])) == 1


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_equal_low_data_has_no_difference_even_with_equal_states(ids: list[str]) -> None:
    assert facts([low(id) for id in ids], [low(id) for id in ids]) == []


def test_results_and_whether_something_would_change() -> None:
    tag = "file_|-a_|-/a_|-managed"
    salt: dict[str, dict[str, Any]] = {
        tag: {"result": None, "changes": {"diff": "New"}},
        "cmd_|-x_|-x_|-run": {"result": True},
    }
    ours: dict[str, dict[str, Any]] = {tag: {"result": True, "changes": {}}}
    assert [(one.state, one.about, one.salt, one.saltern) for one in compare_results(salt, ours)] == [
        ("file.managed", "result", None, True),
        ("file.managed", "changes", True, False),
        ("cmd.run", "missing", None, None),
    ]
