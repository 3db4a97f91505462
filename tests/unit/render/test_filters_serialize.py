"""What data looks like as text, and that it reads back."""

from __future__ import annotations

import math
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import StrictUndefined, Undefined, UndefinedError
from markupsafe import Markup

from saltern.render.filters.serialize import (
    dict_to_sls_yaml_params,
    load_json,
    load_yaml,
    salt_repr,
    to_json,
    to_yaml,
    tojson,
    yaml_dquote,
    yaml_encode,
    yaml_squote,
)

printable = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\ufffe\uffff"))
plain = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | printable
data = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(printable, inner, max_size=4),
    max_leaves=10,
)


@given(data)
def test_json_reads_back(value: Any) -> None:
    assert load_json(to_json(value)) == value
    assert load_json(tojson(value)) == value


@given(data, st.booleans())
def test_yaml_reads_back(value: Any, flow: bool) -> None:
    assert load_yaml(to_yaml(value, flow)) == value


@given(printable)
def test_quoted_text_reads_back(text: str) -> None:
    assert load_yaml(yaml_dquote(text)) == text
    assert load_yaml(yaml_squote(text)) == text
    assert load_yaml(yaml_encode(text)) == text


@given(st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), data))
def test_the_parameters_of_a_state_are_its_arguments_one_by_one(arguments: dict[str, Any]) -> None:
    assert load_yaml(dict_to_sls_yaml_params(arguments)) == [{key: value} for key, value in arguments.items()]


@given(st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), st.text()))
def test_a_printed_mapping_reads_back_unless_it_has_a_backslash(value: dict[str, str]) -> None:
    value = {key: text for key, text in value.items() if "\\" not in text}
    assert load_yaml(salt_repr(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        (
            {"b": "x", "a": 1, 5: None, "t": True, "f": 1.5},
            "{'b': 'x', 'a': 1, 5: None, 't': True, 'f': 1.5}",
        ),
        ({"q": "it's", "d": 'say "hi"'}, """{'q': "it's", 'd': 'say "hi"'}"""),
        ({"n": "a\nb", "t": "a\tb", "r": "\r"}, """{'n': "a\\nb", 't': "a\\tb", 'r': "\\r"}"""),
        ({"both": 'it\'s "x"\n'}, """{'both': "it's \\"x\\"\\n"}"""),
        ({"l": ["x", "a\nb", {"k": "v\n"}]}, """{'l': ['x', 'a\\nb', {'k': "v\\n"}]}"""),
        ({"d": {"k": "é\n"}}, """{'d': {'k': "é\\n"}}"""),
        ({"bs": "a\\b"}, r"{'bs': 'a\\b'}"),
        ({"k\nk": 1}, r"{'k\nk': 1}"),
        ({"t": (1,), "b": b"x"}, "{'t': (1,), 'b': b'x'}"),
        (OrderedDict(a=OrderedDict(b=1)), "{'a': {'b': 1}}"),
        ([{"a": "x\n"}], """[{'a': "x\\n"}]"""),
        (({"a": "x\n"},), """({'a': "x\\n"},)"""),
        ({"m": Markup("x")}, "{'m': 'x'}"),
        (["a\nb", None], r"['a\nb', None]"),
    ],
)
def test_a_value_prints_as_in_salt(value: Any, text: str) -> None:
    assert salt_repr(value) == text


@pytest.mark.parametrize("write", [to_json, to_yaml, tojson])
def test_an_undefined_value_inside_makes_the_whole_undefined(write: Any) -> None:
    nothing = StrictUndefined(name="nothing")
    for value in (nothing, [nothing], {"a": {"b": nothing}}):
        assert write(value) is nothing
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        str(write([nothing]))


@pytest.mark.parametrize("value", [MappingProxyType({"a": 1}), OrderedDict(a=1), {Markup("a"): True and 1}])
def test_every_kind_of_mapping_can_be_written(value: Any) -> None:
    assert to_json(value) == '{"a": 1}'
    assert to_yaml(value) == "{a: 1}"


def test_sets_and_iterators_are_written_as_lists() -> None:
    assert to_json({"a": {2, 1}}) == '{"a": [1, 2]}'
    assert to_yaml({"a": {2, 1}}) == "{a: [1, 2]}"
    assert to_json({"b": 1}.keys()) == '["b"]'
    assert to_yaml(iter([1])) == "[1]"


def test_words_that_yaml_would_misread_are_quoted() -> None:
    words = ["0644", "1:30", "2014-01-01", "on", "~", "=", "x: y", "- z", "# c", " lead", "{{", ""]
    assert load_yaml(to_yaml(words)) == words


def test_numbers_that_are_none_stay_what_they_are() -> None:
    assert math.isnan(load_yaml(to_yaml(math.nan)))


def test_keys_are_sorted_as_salt_sorts_them() -> None:
    assert to_yaml({"b": 1, "a": 2}) == "{a: 2, b: 1}"
    assert to_json({"b": 1, "a": 2}) == '{"a": 2, "b": 1}'


def test_a_printed_mapping_complains_of_what_is_not_defined() -> None:
    with pytest.raises(UndefinedError):
        salt_repr({"a": StrictUndefined(name="x")})
    assert salt_repr({"a": Undefined(name="x")}) == "{'a': Undefined}"


@pytest.mark.parametrize(
    "value", ["𝄞", "\\𝄞", "\\ud834𝄞", "\x7f\u2028\ufeff", "\\ud834\\udd1e", "👩‍👩‍👧 and 👩"]
)
def test_tojson_may_stand_in_yaml(value: str) -> None:
    """YAML does not read one character from two halves, as JSON does."""
    assert load_yaml(tojson(value)) == value
    assert load_json(tojson(value)) == value
