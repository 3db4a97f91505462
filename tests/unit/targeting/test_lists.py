"""Names with commas between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.controller.target import expand
from saltern.targeting.lists import spelled_list
from saltern.targeting.match import Subject, matches

NAMES = ["web1", "web2", "db1", "10.0.0.7", "a-b.example"]


@pytest.mark.parametrize(
    ("target", "means"),
    [
        ("web1,web2", ["web1", "web2"]),
        ("web*,db1", ["web1", "web2", "db1"]),
        ("web[12],10.0.0.7", ["web1", "web2", "10.0.0.7"]),
        ("@data,web1", ["web1", "db1"]),
        ("@data,@data", ["db1"]),
        ("L@web1,db1", ["web1", "db1"]),
        ("web1", ["web1"]),
        ("web* and not web1", ["web2"]),
        ("L@web1,web2 and web2", ["web2"]),
    ],
)
def test_what_a_target_means(target: str, means: list[str]) -> None:
    expression = expand(target, {"data": "db*"})
    assert [name for name in NAMES if matches(Subject(id=name, grains={}), expression)] == means


@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5))
def test_a_list_of_names_means_these(names: list[str]) -> None:
    expression = spelled_list(",".join(names))
    assert {one for one in NAMES if matches(Subject(id=one, grains={}), expression)} == set(names)


@pytest.mark.parametrize("target", ["G@os:a,b", "E@a,b", "a, b", "a,,b", ",a", "( a,b )", "*"])
def test_anything_else_stays_as_it_is(target: str) -> None:
    assert spelled_list(target) == target
