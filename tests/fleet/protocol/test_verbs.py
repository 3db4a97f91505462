"""What a job asks for: rows for exact names, and what counts for every other function."""

from __future__ import annotations

import pytest

from saltern.fleet.protocol.questions import QUESTIONS, is_question
from saltern.fleet.protocol.verbs import QUESTION_LIFE, STATE_LIFE, VERBS, verb_of
from saltern.modules.api.registry import Registry

CHANGING = (
    "pkg.install",
    "cmd.run",
    "service.restart",
    "file.remove",
    "http.query",
    "mysql.query",
    "system.reboot",
    "state.template",
    "test.try",
    "slsutil.renderer",
    "own.get",
    "pkg.list_upgrades_of_mine",
    "pkg",
    "",
)


@pytest.mark.parametrize("function", CHANGING)
def test_what_is_not_known_to_only_look_changes_something(function: str) -> None:
    found = verb_of(function)
    assert found.changing
    assert found.on_interrupt == "report"
    assert found.life == QUESTION_LIFE


@pytest.mark.parametrize("function", ["test.ping", "pkg.list_pkgs", "grains.items", "service.get_all"])
def test_questions_run_beside_other_jobs(function: str) -> None:
    found = verb_of(function)
    assert not found.changing
    assert found.on_interrupt == "rerun"


def test_states_wait_a_day_and_are_resumed() -> None:
    for name in ("state.apply", "state.highstate", "state.sls"):
        found = verb_of(name)
        assert (found.life, found.durable, found.changing) == (STATE_LIFE, True, True)


def test_states_in_test_mode_change_nothing() -> None:
    found = verb_of("state.apply", test=True)
    assert (found.changing, found.durable, found.life) == (False, False, STATE_LIFE)
    assert verb_of("pkg.install", test=True).changing  # a function has no test mode of its own


def test_every_word_of_the_list_is_a_function_that_exists() -> None:
    registry = Registry()
    for module, words in QUESTIONS.items():
        members = registry.members("functions", module)
        for word in words:
            assert any(_fits(word, name) for name in members), f"{module}.{word}"


def _fits(word: str, name: str) -> bool:
    return name.startswith(word[:-1]) if word.endswith("*") else name == word


def test_a_row_of_its_own_wins_over_the_list() -> None:
    assert VERBS["test.ping"].command == ""
    assert not is_question("state.apply")
