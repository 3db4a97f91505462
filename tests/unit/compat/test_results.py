from __future__ import annotations

import pytest

from saltern.compat.results import to_result, to_salt
from saltern.language.result import Outcome, Result, SubResult

GOOD = {"name": "a", "result": True, "changes": {}, "comment": ""}


def test_a_return_is_read_whole_and_further_keys_are_kept() -> None:
    given = {
        **GOOD,
        "result": None,
        "changes": {"a": {"old": 1, "new": (2, 3)}},
        "comment": ["one", "two"],
        "warnings": "careful",
        "skip_watch": True,
        "pchanges": {"b": 1},
        "data": {"known": True},
    }
    result = to_result(given, "m.f", provider="salt")
    assert result == Result(
        outcome=Outcome.WOULD_CHANGE,
        comment="one\ntwo",
        changes={"a": {"old": 1, "new": [2, 3]}},
        data={"known": True},
        warnings=("careful",),
        quiet=True,
        extra={"provider": "salt", "pchanges": {"b": 1}},
    )


@pytest.mark.parametrize(("given", "wanted"), [(1, True), ("", False), (0, False), ([1], True)])
def test_truth_is_enough_for_a_result(given: object, wanted: bool) -> None:
    assert to_result({**GOOD, "result": given}, "m.f").outcome is Outcome(wanted)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "it is nothing, not a dictionary with name, result, changes, comment"),
        ("done", "it is a str"),
        ([], "it is a list"),
        ({"name": "a", "result": True, "changes": {}}, "it has no 'comment'"),
        ({"name": "a"}, "it has no 'result', 'changes', 'comment'"),
        ({**GOOD, "changes": ["a"]}, "'changes' is a list, not a dictionary"),
        ({**GOOD, "comment": ["a", 1]}, "'comment' is a list with an item that is not text"),
    ],
)
def test_a_bad_return_is_a_failure_that_says_what_is_wrong(given: object, said: str) -> None:
    result = to_result(given, "m.f")
    assert result.outcome is Outcome.FAILED
    assert result.comment.startswith("m.f returned a malformed result: ")
    assert said in result.comment


def test_changes_of_a_bad_return_are_not_lost() -> None:
    assert to_result({"name": "a", "result": True, "changes": {"a": 1}}, "m.f").changes == {"a": 1}


def test_each_step_below_a_state_is_read_or_refused_by_itself() -> None:
    low = {"state": "x", "__id__": "i", "name": "n", "fun": "f"}
    good = {"low": low, "result": True, "changes": {"a": 1}, "comment": ""}
    result = to_result({**GOOD, "sub_state_run": [good, {"low": low}, 7]}, "m.f")
    assert result.outcome is Outcome.OK
    first, second, third = result.sub
    assert (first.state, first.id, first.name, first.fun, first.changes) == ("x", "i", "n", "f", {"a": 1})
    assert (second.name, second.outcome) == ("n", Outcome.FAILED)
    assert "it has no 'changes', 'result', 'comment'" in second.comment
    assert "this entry is a int, not a dictionary" in third.comment


def test_steps_that_are_no_list_are_one_failed_step() -> None:
    (step,) = to_result({**GOOD, "sub_state_run": "x"}, "m.f").sub
    assert step.outcome is Outcome.FAILED
    assert "sub_state_run is a str, not a list" in step.comment


def test_there_and_back_again() -> None:
    result = Result(
        outcome=Outcome.WOULD_CHANGE,
        comment="c",
        changes={"a": 1},
        warnings=("w",),
        quiet=True,
        extra={"x": 1},
        sub=(
            SubResult(
                name="n",
                id="i",
                outcome=Outcome.FAILED,
                changes={"b": 2},
                data={"c": 3},
                took=1.5,
                started=7.0,
                timed=True,
                sub=(SubResult(name="inner", id="inner", outcome=Outcome.OK, ran=False),),
            ),
        ),
    )
    assert to_result(to_salt(result, "n"), "m.f") == result
