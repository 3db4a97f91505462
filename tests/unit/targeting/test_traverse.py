from __future__ import annotations

import pytest

from saltern.targeting.traverse import traverse

DATA = {
    "a": {"b": {"c": 1}, "list": ["x", {"k": "v"}, {"k": "later", "n": 2}]},
    "numbers": {1: "one", 2.5: "half"},
    "b:c": "colon",
    "none": None,
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a:b:c", 1),
        ("a:list:0", "x"),
        ("a:list:-3", "x"),
        ("a:list:k", "v"),
        ("a:list:n", 2),
        ("numbers:2.5", "half"),
        ("none", None),
        ("a:x", "no"),
        ("a:b:c:d", "no"),
        ("a:list:9", "no"),
        ("a:list:zz", "no"),
        ("b:c", "no"),
        ("", "no"),
    ],
)
def test_a_key_leads_to_its_value_or_the_default(key: str, value: object) -> None:
    assert traverse(DATA, key, "no") == value


def test_a_number_or_boolean_as_key_is_found_by_its_spelling() -> None:
    assert traverse({1: "one"}, "1") == "one"
    assert traverse({True: "on"}, "yes") == "on"
    assert traverse({"1": "text"}, "1") == "text"


def test_another_delimiter_and_steps_in_a_list() -> None:
    assert traverse(DATA, "a|b|c", delimiter="|") == 1
    assert traverse(DATA, "b:c", delimiter="|") == "colon"
    assert traverse(DATA, ["a", "list", 1, "k"]) == "v"
    assert traverse(["x", "y"], 1) == "y"


def test_data_that_cannot_be_entered_gives_the_default() -> None:
    assert traverse(None, "a", 0) == 0
    assert traverse("text", "0", 0) == 0
