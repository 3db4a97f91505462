"""A view behaves as the dictionary it stands for, and follows it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, MutableMapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.compat.dunders import ReadView, View
from saltern.compat.library import Library

NAMES = st.text(max_size=5)  # views look only at what lies directly in them: small data is as good as large
VALUES = st.recursive(
    st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
DATA = st.dictionaries(NAMES, VALUES, max_size=6)


class Calls:
    """The part of a library that a view asks."""

    def call(self) -> None:
        return None


def view(data: dict[str, Any]) -> View:
    return View(cast(Library, Calls()), lambda _: data)


@given(DATA, DATA)
def test_it_reads_as_its_dictionary(data: dict[str, Any], other: dict[str, Any]) -> None:
    seen = view(data)
    assert seen == data and seen == view(dict(data))
    assert (list(seen), len(seen), bool(seen), repr(seen)) == (list(data), len(data), bool(data), repr(data))
    assert (list(seen.keys()), list(seen.values())) == (list(data.keys()), list(data.values()))
    assert list(seen.items()) == list(data.items())
    assert seen | other == data | other and other | seen == other | data
    assert all(key in seen and seen[key] == seen.get(key) == data[key] for key in data)
    assert all((key in seen) is (key in data) and seen.get(key, 7) == data.get(key, 7) for key in other)


@given(DATA, st.sampled_from([copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]))
def test_a_copy_is_a_plain_dictionary_of_its_own(data: dict[str, Any], make: Any) -> None:
    made = make(view(data))
    assert type(made) is dict and made == data and made is not data
    nested = make({"inner": view(data)})["inner"]
    assert nested == data


def test_a_deep_copy_shares_nothing_and_keeps_what_is_shared_within() -> None:
    inner: list[int] = [1]
    made = copy.deepcopy(view({"a": inner, "b": inner}))
    assert made["a"] is made["b"] and made["a"] is not inner
    assert copy.copy(view({"a": inner}))["a"] is inner
    both = copy.deepcopy([one := view({"a": inner}), one])
    assert both[0] is both[1]


@given(DATA, st.text(), VALUES)
def test_what_is_changed_in_it_is_changed_in_its_dictionary(
    data: dict[str, Any], key: str, value: object
) -> None:
    expected, seen = dict(data), view(data)
    seen[key] = expected[key] = value
    assert data == expected
    assert seen.pop(key) == expected.pop(key)
    seen.update(other=1)
    assert seen.setdefault("more", 2) == 2
    assert data == {**expected, "other": 1, "more": data["more"]}
    seen.clear()
    assert data == {}
    with pytest.raises(KeyError):
        del seen[key]


def test_a_view_is_a_mapping_without_a_hash_or_attributes_of_its_own() -> None:
    seen = view({})
    assert isinstance(seen, MutableMapping) and isinstance(seen, ReadView) and isinstance(seen, Mapping)
    assert not hasattr(seen, "__dict__")
    with pytest.raises(TypeError):
        hash(seen)
    with pytest.raises(AttributeError):
        seen.no_such_method  # noqa: B018
