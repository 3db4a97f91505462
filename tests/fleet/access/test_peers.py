"""`peer` and `peer_run`: which systems may run what, as Salt reads its settings."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.access.peers import Order, PeerRules, entries_of, may_run, read_peers

WEBS = {"web1", "web2"}


def allowed(rules: Any, system: str, function: str, *args: object, on: tuple[str, ...] = ("web1",)) -> bool:
    kwargs = {"saltenv": "prod"} if function.startswith("state.") else {}
    order = Order(function=function, args=args, kwargs=kwargs)
    return may_run(read_peers(rules), system, order, lambda target: target == "web*" and set(on) <= WEBS)


RULES: list[tuple[Any, str, str, tuple[object, ...], tuple[str, ...], bool]] = [
    ({}, "web1", "test.ping", (), ("web1",), False),
    ({".*": [".*"]}, "web1", "cmd.run", ("id",), ("db1",), True),
    ({"web1": ["test.*"]}, "web1", "test.ping", (), ("db1",), True),
    ({"web1": ["test.*"]}, "web1", "cmd.run", (), ("web1",), False),
    ({"web1": ["test.*"]}, "db1", "test.ping", (), ("web1",), False),
    ({"web1": ["test.*"]}, "web10", "test.ping", (), ("web1",), True),  # as in Salt: the beginning fits
    ({"web1$": ["test.*"]}, "web10", "test.ping", (), ("web1",), False),
    ({"web1": ["ping"]}, "web1", "test.ping", (), ("web1",), False),
    ({"web.*": ["disk.usage"], ".*1": ["grains.item"]}, "web1", "grains.item", (), ("web1",), True),
    ({".*": [{"web*": ["test.*"]}]}, "db1", "test.ping", (), ("web1", "web2"), True),
    ({".*": [{"web*": ["test.*"]}]}, "db1", "test.ping", (), ("web1", "db1"), False),
    ({".*": [{"*": "test.*"}]}, "db1", "test.ping", (), ("web1", "db1"), True),
    ({".*": [{"*": [{"cmd.run": {"args": ["uptime"]}}]}]}, "a", "cmd.run", ("uptime -p",), ("b",), True),
    ({".*": [{"*": [{"cmd.run": {"args": ["uptime"]}}]}]}, "a", "cmd.run", ("rm",), ("b",), False),
    ({".*": [{"*": [{"cmd.run": {"args": ["uptime"]}}]}]}, "a", "cmd.run", (), ("b",), False),
    ({".*": [{"*": [{"cmd.run": {"args": [None, "x"]}}]}]}, "a", "cmd.run", ("any", "x"), ("b",), True),
    ({".*": [{"*": [{"state.sls": {"kwargs": {"saltenv": "prod"}}}]}]}, "a", "state.sls", (), ("b",), True),
    ({".*": [{"*": [{"state.sls": {"kwargs": {"saltenv": "dev"}}}]}]}, "a", "state.sls", (), ("b",), False),
    ({".*": [{"*": [{"state.sls": {"kwargs": {"pillar": None}}}]}]}, "a", "state.sls", (), ("b",), False),
    ({".*": []}, "web1", "test.ping", (), ("web1",), False),
]


@pytest.mark.parametrize(("rules", "system", "function", "args", "on", "expected"), RULES)
def test_what_a_system_may_run(
    rules: Any, system: str, function: str, args: tuple[object, ...], on: tuple[str, ...], expected: bool
) -> None:
    assert allowed(rules, system, function, *args, on=on) is expected


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "x",
        {"web1": "test.*"},
        {"(": [".*"]},
        {"web1": ["("]},
        {"web1": [{"a": [], "b": []}]},
        {"web1": [3]},
        {"web1": [{"*": [{"cmd.run": ["uptime"]}]}]},
        {"web1": [{"*": [{"cmd.run": {"arguments": []}}]}]},
    ],
)
def test_settings_of_another_shape_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_peers(wrong)


WORDS = st.text("abc.1", min_size=1, max_size=6)


@given(
    st.dictionaries(WORDS.map(re.escape), st.lists(WORDS.map(re.escape), max_size=3), max_size=4),
    WORDS,
    WORDS,
)
def test_only_a_row_that_names_both_allows(rules: dict[str, list[str]], system: str, function: str) -> None:
    known = read_peers(rules)
    expected = any(
        system.startswith(re.sub(r"\\(.)", r"\1", id_)) and function.startswith(re.sub(r"\\(.)", r"\1", one))
        for id_, functions in rules.items()
        for one in functions
    )
    assert may_run(known, system, Order(function=function), lambda _: False) is expected
    assert not may_run(PeerRules(), system, Order(function=function), lambda _: True)
    assert bool(entries_of(known, system)) or not expected
