"""The engine's own words have a shape."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.compiler.options import CHECKS, check_options
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import KEYWORDS


def problems(**args: object) -> list[str]:
    found = Diagnostics()
    check_options([chunk("a", more=args)], found)
    return [one.what for one in found.errors]


@pytest.mark.parametrize(
    "args",
    [
        {"failhard": True},
        {"parallel": False},
        {"no_log": None},
        {"retry": True},
        {"retry": {}},
        {"retry": {"attempts": 3, "until": False, "interval": 0.5, "splay": "2"}},
        {"check_cmd": "true"},
        {"check_cmd": ["true", "false"]},
        {"check_cmd": []},
        {"umask": 77},
        {"umask": "0022"},
    ],
)
def test_what_the_engine_can_read_is_fine(args: dict[str, object]) -> None:
    assert problems(**args) == []


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"failhard": "yes"}, "'failhard' of 'a' is text"),
        ({"parallel": 1}, "is a number"),
        ({"onfail_stop": []}, "is a list"),
        ({"retry": 2}, "is a number"),
        ({"retry": "2"}, "is text"),
        ({"retry": {"attempt": 2}}, "did you mean 'attempts'?"),
        ({"retry": {"attempts": "many"}}, "'many' for 'attempts'"),
        ({"retry": {"attempts": True}}, "for 'attempts'"),
        ({"retry": {"until": "x"}}, "for 'until'"),
        ({"check_cmd": {"fun": "x"}}, "a mapping where a command belongs"),
        ({"check_cmd": ["true", 5]}, "a number where a command belongs"),
        ({"umask": 99}, "is 99"),
        ({"umask": "x"}, "is 'x'"),
        ({"umask": -1}, "is -1"),
    ],
)
def test_what_it_cannot_read_is_reported(args: dict[str, object], told: str) -> None:
    (what,) = problems(**args)
    assert told in what


def test_every_checked_word_is_a_word_of_the_language() -> None:
    assert CHECKS.keys() <= KEYWORDS.keys()
