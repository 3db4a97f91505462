"""Every strategy, against answers recorded from Salt."""

from __future__ import annotations

import copy

import pytest

from saltern.language.merge import MERGES, CannotMerge, merge

BASE: dict[str, object] = {"a": 1, "d": {"x": 1, "y": [1, 2]}}
OVER: dict[str, object] = {"b": 2, "d": {"x": 2, "y": [2, 3]}}


@pytest.mark.parametrize(
    ("strategy", "merge_lists", "expected"),
    [
        ("smart", False, {"a": 1, "d": {"x": 2, "y": [2, 3]}, "b": 2}),
        ("smart", True, {"a": 1, "d": {"x": 2, "y": [1, 2, 3]}, "b": 2}),
        ("recurse", False, {"a": 1, "d": {"x": 2, "y": [2, 3]}, "b": 2}),
        ("overwrite", True, {"a": 1, "d": {"x": 2, "y": [2, 3]}, "b": 2}),
        ("aggregate", False, {"a": 1, "d": {"x": 2, "y": [2, 3]}, "b": 2}),
        ("none", False, {"a": 1, "d": {"x": 2, "y": [2, 3]}, "b": 2}),
    ],
)
def test_each_strategy_answers_as_salt_does(
    strategy: str, merge_lists: bool, expected: dict[str, object]
) -> None:
    merged = merge(BASE, OVER, strategy=strategy, merge_lists=merge_lists)
    assert merged == expected


@pytest.mark.parametrize(
    ("base", "over", "merge_lists", "expected"),
    [
        ({"b": 1}, None, False, None),
        (None, {"b": 1}, False, {"b": 1}),
        ([1], {"b": 1}, False, {"b": 1}),
        ({"b": 1}, [1], True, [1]),
        ("x", [1], True, [1]),
        ([1], [1, 2], True, [1, 2]),
        ([{"a": 1}], [{"a": 2}], True, [{"a": 1}, {"a": 2}]),
        ({"b": 1}, {}, False, {"b": 1}),
        ([1], [], False, []),
        ((1,), (2,), True, (2,)),
    ],
)
def test_values_of_different_kinds_are_replaced(
    base: object, over: object, merge_lists: bool, expected: object
) -> None:
    assert merge({"k": base}, {"k": over}, merge_lists=merge_lists) == {"k": expected}


def test_overwrite_does_not_look_inside_values() -> None:
    assert merge({"d": {"x": 1}}, {"d": {"y": 2}}, strategy="overwrite") == {"d": {"y": 2}}


def test_list_keeps_both_values_and_every_key() -> None:
    assert merge({"a": 1, "c": 0}, {"a": {"b": 1}, "d": 4}, strategy="list") == {
        "a": [1, {"b": 1}],
        "c": 0,
        "d": 4,
    }


def test_aggregate_joins_two_lists() -> None:
    assert merge([1, 2], [2, 3], strategy="aggregate") == [1, 2, 3]


@pytest.mark.parametrize("strategy", list(MERGES))
def test_no_strategy_changes_what_it_was_given(strategy: str) -> None:
    base, over = copy.deepcopy(BASE), copy.deepcopy(OVER)
    merge(base, over, strategy=strategy, merge_lists=True)
    assert (base, over) == (BASE, OVER)


def test_keys_keep_the_order_of_the_base_and_new_ones_follow() -> None:
    merged = merge({"z": 1, "a": 1}, {"b": 1, "z": 2})
    assert isinstance(merged, dict) and list(merged) == ["z", "a", "b"]


@pytest.mark.parametrize(("base", "over"), [(None, {}), ({}, None), ([1], [2]), ("a", {})])
def test_what_is_no_mapping_is_refused_in_words(base: object, over: object) -> None:
    with pytest.raises(CannotMerge, match="only mappings can be merged"):
        merge(base, over)


def test_an_unknown_strategy_is_reported_with_the_known_ones() -> None:
    with pytest.raises(CannotMerge, match="'smrt'; there are smart, recurse"):
        merge({}, {}, strategy="smrt")
