"""Targets by an index of facts mean the same systems as a walk from system to system."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.controller.fact_index import MISSING, FactIndex
from saltern.fleet.controller.selection import select_systems
from saltern.targeting.compound import parse
from saltern.targeting.match import BadTarget, Subject, holds

names = st.sampled_from(["os", "role", "a:b", "ipv4", "nested", "1", "true"])
plain = st.one_of(
    st.none(), st.booleans(), st.integers(0, 3), st.sampled_from(["web", "Web", "db", "10.0.0.1", "a:b", "*"])
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["web", "a", "1", "b"]), inner, max_size=2)
    ),
    max_leaves=4,
)
grains = st.dictionaries(names, values, max_size=4)
ids = st.sampled_from(["web1", "web2", "web10", "db1", "db[1]", "x", "10.0.0.1"])
fleets = st.dictionaries(ids, grains, max_size=6)
terms = st.sampled_from(
    ["*", "web*", "web?", "db[1]", "G@os:web", "G@role:*", "G@nested:a:*", "G@*:web", "G@nested:*:web",
     "G@a:b:web", "G@1:2", "P@role:w.b", "P@nested:a:(1|web)", "G|@a:b|web", "L@web1,db1,x", "E@web\\d",
     "S@10.0.0.0/8", "R@web[1-2]", "N@both", "G@missing:x", "not G@missing:*", "G@true:true"]
)  # fmt: skip
GROUPS = {"both": "web* or G@os:web"}
targets = st.recursive(
    terms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"( {two[0]} and {two[1]} )"),
        st.tuples(inner, inner).map(lambda two: f"( {two[0]} or {two[1]} )"),
        inner.map(lambda one: f"not ( {one} )"),
    ),
    max_leaves=4,
)


def index_of(fleet: dict[str, dict[str, Any]]) -> FactIndex:
    packed = {id_: msgspec.json.encode(one) for id_, one in fleet.items()}
    return FactIndex({id_: (str(hash(data)), data) for id_, data in packed.items()})


def chosen(target: str, fleet: dict[str, dict[str, Any]], index: FactIndex) -> list[str]:
    subjects = {id_: Subject(id=id_, grains=one, nodegroups=GROUPS) for id_, one in fleet.items()}
    return sorted(select_systems(target, frozenset(fleet), index, subjects.__getitem__))


@given(fleets, targets)
def test_the_index_means_whom_a_walk_means(fleet: dict[str, dict[str, Any]], target: str) -> None:
    node = parse(target)
    walked = [
        id_ for id_, one in fleet.items() if holds(node, Subject(id=id_, grains=one, nodegroups=GROUPS))
    ]
    assert chosen(target, fleet, index_of(fleet)) == sorted(walked)


@given(fleets, fleets, targets)
def test_an_index_follows_what_changes(
    old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], target: str
) -> None:
    index = index_of(old)
    chosen(target, old, index)
    later = index.after(index_of(new).facts)
    assert chosen(target, new, later) == chosen(target, new, index_of(new))
    assert chosen(target, old, index) == chosen(target, old, index_of(old)), "the old one stays as it was"
    for name in ("os", "role"):
        later.members(name)
        assert later.members(name) == index_of(new).members(name)


@pytest.mark.parametrize("target", ["G@os", "E@(", "S@nowhere", "N@unknown", "I@a:b"])
def test_a_bad_part_is_refused_if_it_is_reached(target: str) -> None:
    fleet: dict[str, dict[str, Any]] = {"web1": {"os": "Debian"}}
    with pytest.raises(BadTarget):
        chosen(target, fleet, index_of(fleet))


def test_facts_that_are_asked_for_are_bounded() -> None:
    from saltern.fleet.controller.fact_index import MOST_FACTS

    index = index_of({"web1": {"os": "Debian"}})
    for number in range(MOST_FACTS * 2):
        assert index.members(f"fact{number}") == {MISSING: {"web1"}}
    assert len(index._members) <= MOST_FACTS
