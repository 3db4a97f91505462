"""What Salt-style modules declare with ``__saltern__``."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.conftest import MakeWorld

from saltern.language.nature import Nature
from saltern.language.result import Outcome

BODY = """
def _ret(name):
    return {"name": name, "result": True, "changes": {}, "comment": "done"}

def sent(name):
    return _ret(name)

def swept(name):
    return _ret(name)

def absent(name):
    return _ret(name)

def mod_watch(name, **kwargs):
    return _ret(name)
"""


def _natures(world: MakeWorld, head: str, file: str = "own") -> dict[str, Nature]:
    made = world({f"_states/{file}.py": head + BODY})
    return {fun: made.registry.nature(file, fun) for fun in ("sent", "swept", "absent", "mod_watch")}


def test_words_for_all_functions_and_for_one(world: MakeWorld) -> None:
    found = _natures(world, '__saltern__ = {"*": {"repeat": "once"}, "swept": {"removes": True}}')
    assert found == {
        "sent": Nature(repeat="once"),
        "swept": Nature(repeat="once", removes=True),
        "absent": Nature(repeat="once", removes=True),  # by its name, as nothing else is said of it
        "mod_watch": Nature(repeat="once"),
    }


def test_a_declaration_wins_over_the_habits_of_salts_modules(world: MakeWorld) -> None:
    head = '__saltern__ = {"absent": {"removes": False}, "sent": {"repeat": "safe", "refreshes": ["pillar"]}}'
    found = _natures(world, head, "event")
    assert not found["absent"].removes
    assert found["sent"] == Nature(refreshes=("pillar",))
    assert found["swept"] == Nature(repeat="once")


@pytest.mark.parametrize(
    ("name", "nature"),
    [
        ("cmd", Nature(repeat="once", runs_commands=True)),
        ("saltutil", Nature(refreshes=("grains", "pillar", "modules"))),
        ("ports", Nature(reloads=True)),
        ("own", Nature()),
    ],
)
def test_one_that_declares_nothing_is_what_salts_module_of_its_name_is(
    world: MakeWorld, name: str, nature: Nature
) -> None:
    assert _natures(world, "", name)["sent"] == nature


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            '{"swep": {"repeat": "once"}}',
            "names 'swep', which is not a function of the module; did you mean 'swept'?",
        ),
        ('{"sent": {"repeat": "twice"}}', "'sent': Invalid enum value 'twice'"),
        ('{"sent": {"repeats": "once"}}', "unknown field `repeats`"),
        ('{"sent": "once"}', "'sent': Expected `object`, got `str`"),
        ('{"*": {"refreshes": ["grain"]}}', "refreshes is ('grain',)"),
        ('"once"', "is not a mapping from functions to words"),
        ("7", "is not a mapping"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_a_broken_module(
    world: MakeWorld, tmp_path: Path, given: str, told: str
) -> None:
    files = {"_states/own.py": f"__saltern__ = {given}" + BODY, "main.sls": "one: {own.sent: []}"}
    result = world(files).apply()["one"]
    assert (result.outcome, result.called) == (Outcome.FAILED, False)
    assert f"{tmp_path}/tree/_states/own.py: __saltern__" in result.comment
    assert told in result.comment
