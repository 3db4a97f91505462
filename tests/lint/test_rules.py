"""Every rule finds what it is for, and lets pass what only looks like it."""

from __future__ import annotations

import pytest
from tests.lint.checking import checked, codes
from tests.lint.rule_cases import BAD, GOOD, Tree
from tools.reference.errors import collect

from saltern.lint.rules import RULES

BAD_CASES = [(name, tree) for name, trees in BAD.items() for tree in trees]
GOOD_CASES = [(name, tree) for name, trees in GOOD.items() for tree in trees]


def files(tree: Tree) -> dict[str, str]:
    return {"main.sls": tree} if isinstance(tree, str) else dict(tree)


def test_every_rule_has_a_bad_and_a_good_case() -> None:
    assert set(BAD) == set(GOOD) == set(RULES)


def test_every_warning_of_the_compiler_can_be_switched_off() -> None:
    told = {
        code
        for code, problem in collect().items()
        if problem.warning and any(place.startswith(("compiler/", "plan/")) for place in problem.places)
    }
    assert told and told <= set(RULES)


def test_every_code_of_a_rule_is_reported_somewhere() -> None:
    assert set(RULES) <= set(collect())


@pytest.mark.parametrize(("name", "tree"), BAD_CASES, ids=[name for name, _ in BAD_CASES])
def test_a_rule_finds_what_it_is_for(name: str, tree: Tree) -> None:
    found = [one for one in checked(files(tree), rules=[name]).problems if one.code == name]
    assert found and all(
        one.where is not None and one.where.line >= (name != "sls-unreachable") for one in found
    )
    assert {one.severity for one in found} == {RULES[name].severity}


@pytest.mark.parametrize(("name", "tree"), GOOD_CASES, ids=[name for name, _ in GOOD_CASES])
def test_a_rule_lets_pass_what_is_fine(name: str, tree: Tree) -> None:
    assert name not in codes(files(tree), rules=[name])


@pytest.mark.parametrize(("name", "tree"), BAD_CASES, ids=[name for name, _ in BAD_CASES])
def test_a_rule_that_is_off_finds_nothing(name: str, tree: Tree) -> None:
    assert name not in codes(files(tree), ignore=[name])


@pytest.mark.parametrize(("name", "tree"), BAD_CASES, ids=[name for name, _ in BAD_CASES])
def test_a_rule_can_be_made_more_or_less_severe(name: str, tree: Tree) -> None:
    for level in ("warning", "error"):
        found = [one for one in checked(files(tree), rules=[f"{name}={level}"]).problems if one.code == name]
        assert {one.severity.value for one in found} == {level}


def test_a_comment_keeps_a_rule_quiet_on_its_line_and_the_next() -> None:
    text = "a:\n  cmd.run: # saltern: ignore command-unguarded\n    - name: x\n"
    assert codes({"main.sls": text}) == []
    above = "a:\n  # saltern: ignore trailing-whitespace, command-unguarded\n  cmd.run:\n    - name: x\n"
    assert codes({"main.sls": above}) == []
    other = "a:\n  # saltern: ignore trailing-whitespace\n  cmd.run:\n    - name: x\n"
    assert codes({"main.sls": other}) == ["command-unguarded"]


def test_files_that_are_no_yaml_are_not_read_as_yaml() -> None:
    text = "#!py\ndef run():\n\tmode = {'mode': 1}\n\treturn {'a': {'test.nop': []}}\n"
    assert codes({"main.sls": text}) == []
