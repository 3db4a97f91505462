"""Conditions: who is asked what, and what is made of the answers."""

from __future__ import annotations

import pytest
from tests.kit import ScriptedCaller, chunk

from saltern.language.chunk import Chunk
from saltern.language.result import Outcome, failed, ok
from saltern.runtime.guards import BadCondition, run_check_cmd, skip_reason

TRUE = {"fun": "test.true"}
FALSE = {"fun": "test.false"}


def caller() -> ScriptedCaller:
    return ScriptedCaller(
        codes={"false": 1, "five": 5},
        functions={
            "test.true": lambda: True,
            "test.false": lambda: False,
            "test.give": lambda *args, **kwargs: {"args": args, "kwargs": kwargs, "list": [0, 1]},
            "test.burn": lambda: 1 / 0,
        },
        paths=["/there"],
    )


@pytest.mark.parametrize(
    ("onlyif", "runs"),
    [
        ("true", True),
        ("false", False),
        (["true", "true"], True),
        (["true", "false"], False),
        ([], True),
        (TRUE, True),
        (FALSE, False),
        ([TRUE, "false"], False),
        (True, True),
        (False, True),  # no condition: told while compiling
        (5, True),
        ({"no": "function"}, True),
    ],
)
def test_onlyif_holds_if_everything_is_true(onlyif: object, runs: bool) -> None:
    assert (skip_reason(chunk("a", onlyif=onlyif), caller()) == "") is runs


@pytest.mark.parametrize(
    ("unless", "runs"),
    [
        ("true", False),
        ("false", True),
        (["true", "true"], False),
        (["true", "false"], True),
        ([], True),
        (TRUE, False),
        (FALSE, True),
        (5, True),
        ({"no": "function"}, True),
    ],
)
def test_unless_skips_if_everything_is_true(unless: object, runs: bool) -> None:
    assert (skip_reason(chunk("a", unless=unless), caller()) == "") is runs


@pytest.mark.parametrize(
    ("creates", "reason"),
    [
        ("/there", "/there exists"),
        ("/nowhere", ""),
        (["/there"], "All files in creates exist"),
        (["/there", "/nowhere"], ""),
        ([], "All files in creates exist"),
        (5, ""),
    ],
)
def test_creates_skips_if_all_of_it_is_there(creates: object, reason: str) -> None:
    assert skip_reason(chunk("a", creates=creates), caller()) == reason


def test_the_first_false_ends_the_questions() -> None:
    world = caller()
    skip_reason(chunk("a", onlyif=["false", "never"], unless=["false", "never"]), world)
    assert world.asked == ["command false", "command false"]


def test_all_three_are_asked_and_each_gives_its_reason() -> None:
    reason = skip_reason(chunk("a", onlyif="false", unless="true", creates="/there"), caller())
    assert reason.splitlines() == ["onlyif condition is false", "unless condition is true", "/there exists"]


@pytest.mark.parametrize(
    ("path", "runs"),
    [("list:1", True), ("list:0", False), ("list:9", False), ("kwargs:x", True), ("a:b:c", False)],
)
def test_get_return_looks_into_the_answer(path: str, runs: bool) -> None:
    entry = {"fun": "test.give", "args": ["a"], "x": 1, "get_return": path}
    assert (skip_reason(chunk("a", onlyif=[entry]), caller()) == "") is runs


def test_asking_twice_asks_twice() -> None:
    world = caller()
    one = chunk("a", onlyif=[{"fun": "test.false", "args": [], "get_return": ""}])
    assert skip_reason(one, world) == skip_reason(one, world) == "onlyif condition is false"
    assert world.asked == ["call test.false"] * 2


@pytest.mark.parametrize(
    ("fun", "told"), [("test.nothing", "no function"), ("test.burn", "test.burn failed")]
)
def test_a_function_that_is_missing_or_fails_is_a_bad_condition(fun: str, told: str) -> None:
    with pytest.raises(BadCondition, match=told):
        skip_reason(chunk("a", unless={"fun": fun}), caller())


@pytest.mark.parametrize(
    ("left_out", "options"),
    [
        ({}, {"cwd": "/x", "runas": "me"}),
        ({"cmd_opts_exclude": "cwd"}, {"runas": "me"}),
        ({"cmd_opts_exclude": ["cwd", "runas"]}, {}),
    ],
)
def test_commands_run_with_the_options_of_their_state(left_out: dict[str, object], options: object) -> None:
    world = caller()
    skip_reason(chunk("a", onlyif="true", cwd="/x", runas="me", comment="no option", more=left_out), world)
    assert world.asked == ["command true" + (f" {options}" if options else "")]


def test_a_module_that_asks_itself_is_not_asked_here() -> None:
    assert skip_reason(chunk("a", state="guarded", onlyif="false"), caller()) == ""


def check(one: Chunk, world: ScriptedCaller) -> tuple[Outcome, str]:
    result = run_check_cmd(one, failed("broken") if one.id == "bad" else ok("done"), world)
    return result.outcome, result.comment


def test_check_cmd_has_the_last_word() -> None:
    world = caller()
    assert check(chunk("good", check_cmd="true"), world)[0] is Outcome.OK
    assert check(chunk("bad", check_cmd="true"), world)[0] is Outcome.OK
    outcome, comment = check(chunk("good", check_cmd=["true", "five", "never"]), world)
    assert outcome is Outcome.FAILED
    assert "exit code 5: five" in comment and "before that: done" in comment
    assert "command never" not in world.asked


def test_an_empty_check_cmd_says_nothing() -> None:
    assert check(chunk("bad", check_cmd=[]), caller()) == (Outcome.FAILED, "broken")
