"""What a reference means."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.language.chunk import Requisite
from saltern.language.patterns import is_pattern
from saltern.plan.matcher import Matcher

CHUNKS = [
    chunk("web", name="/etc/web"),  # 0
    chunk("web", state="cmd", name="true"),  # 1
    chunk("many", name="one"),  # 2
    chunk("many", name="two"),  # 3
    chunk("list[0]", sls="other"),  # 4
    chunk("web*", sls="other"),  # 5
    chunk("deep", sls="inner", included_from=("other", "main")),  # 6
]
MATCHER = Matcher(CHUNKS, ("main", "other", "inner", "web.a", "empty"))


@pytest.mark.parametrize(
    ("state", "value", "indexes"),
    [
        ("test", "web", [0]),
        ("cmd", "web", [1]),
        ("", "web", [0, 1]),
        ("test", "/etc/web", [0]),
        ("test", "many", [2, 3]),
        ("test", "two", [3]),
        ("test", "t*", [3]),
        ("test", "w*", [0, 5]),
        ("test", "web*", [5]),  # the literal comes before the pattern
        ("test", "list[0]", [4]),
        ("", "?ne", [2]),
        ("test", "true", []),
        ("pkg", "*", []),
        ("test", "WEB", []),
        ("sls", "other", [4, 5, 6]),
        ("sls", "main", [0, 1, 2, 3, 6]),
        ("sls", "inner", [6]),
        ("sls", "empty", []),
        ("sls", "nowhere", []),
        ("sls", "*r", [4, 5, 6, 6]),
    ],
)
def test_a_reference_finds_its_chunks_in_low_order(state: str, value: str, indexes: list[int]) -> None:
    assert MATCHER.find(Requisite("require", state, value)) == indexes


@pytest.mark.parametrize(
    ("value", "files"),
    [("main", ["main"]), ("empty", ["empty"]), ("web.*", ["web.a"]), ("nowhere", []), ("x*", [])],
)
def test_files_are_those_that_were_rendered_even_if_they_are_empty(value: str, files: list[str]) -> None:
    assert MATCHER.files(value) == files


@pytest.mark.parametrize(
    ("state", "value", "told"),
    [
        ("test", "wep", "did you mean 'web'?"),
        ("pkg", "web", "'web' is of type 'test'"),
        ("sls", "mian", "did you mean 'main'?"),
        ("sls", "zzz", "include that file"),
        ("test", "zzz", "include the file"),
    ],
)
def test_a_reference_to_nothing_suggests_something(state: str, value: str, told: str) -> None:
    assert told in MATCHER.suggestion(Requisite("require", state, value))


def test_patterns_are_reported_by_their_characters() -> None:
    assert [is_pattern(text) for text in ("a*", "a?", "a[b]", "a]", "a", "")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
