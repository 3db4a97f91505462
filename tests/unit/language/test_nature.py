"""What a state declares itself to be."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from saltern.language.nature import Nature, no_nature
from saltern.language.nature_words import NatureWords
from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"repeat": "twice"}, "repeat is 'twice'; it must be 'safe' or 'once'"),
        ({"refreshes": "grains"}, "refreshes is 'grains'; it must be a tuple of grains, pillar, modules"),
        ({"refreshes": ("grain",)}, "refreshes is ('grain',); it must be a tuple of grains, pillar, modules"),
    ],
)
def test_a_wrong_word_is_found_where_it_is_written(words: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError) as problem:
        Nature(**words)
    assert str(problem.value) == told
    with pytest.raises(ValueError):
        state(**words)


def test_a_word_that_does_not_exist_is_refused_by_the_decorator() -> None:
    with pytest.raises(TypeError):
        state(repeats="once")  # type: ignore[call-overload]


def test_without_words_a_state_may_be_called_again_and_is_nothing_special() -> None:
    @state
    def plain(ctx: Context, name: str) -> Result:
        return ok(name)

    assert plain.words == {}
    assert no_nature("any", "thing") == Nature() == Nature(repeat="safe", refreshes=())


def test_the_words_of_the_decorator_are_those_of_the_nature() -> None:
    assert list(get_type_hints(NatureWords)) == list(Nature.__struct_fields__)
