"""The ``test`` states answer exactly as recorded from Salt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.states import test as states

CHANGED = {"testing": {"old": "Unchanged", "new": "Something pretended to change"}}

State = Callable[..., Result]


@pytest.mark.parametrize(
    ("state", "args", "outcome", "comment", "changes"),
    [
        (states.nop, {"anything": 1}, Outcome.OK, "Success!", {}),
        (states.succeed_without_changes, {}, Outcome.OK, "Success!", {}),
        (states.succeed_without_changes, {"comment": "hi"}, Outcome.OK, "hi", {}),
        (states.succeed_with_changes, {}, Outcome.OK, "Success!", CHANGED),
        (states.fail_without_changes, {}, Outcome.FAILED, "Failure!", {}),
        (states.fail_without_changes, {"comment": ["a", "b"]}, Outcome.FAILED, "a\nb", {}),
        (states.fail_with_changes, {"comment": "no"}, Outcome.FAILED, "no", CHANGED),
        (states.configurable_test_state, {}, Outcome.OK, "", CHANGED),
        (states.configurable_test_state, {"changes": False, "comment": "c"}, Outcome.OK, "c", {}),
        (states.configurable_test_state, {"result": False}, Outcome.FAILED, "", CHANGED),
        (states.show_notification, {"text": "hello"}, Outcome.OK, "hello", {}),
        (states.show_notification, {"text": 5}, Outcome.OK, "5", {}),
        (states.mod_watch, {"sfun": "nop"}, Outcome.OK, "Watch statement fired.", None),
        (states.mod_watch, {"result": False}, Outcome.FAILED, "Watch statement fired.", None),
    ],
)
def test_a_run_answers_as_salt_does(
    ctx: Context, state: State, args: dict[str, object], outcome: Outcome, comment: str, changes: object
) -> None:
    result = state(ctx, "x", **args)
    assert (result.outcome, result.comment) == (outcome, comment)
    assert result.changes == changes if changes is not None else result.changed


@pytest.mark.parametrize(
    ("state", "args", "outcome", "comment", "changed"),
    [
        (states.nop, {}, Outcome.OK, "Success!", False),
        (
            states.succeed_with_changes,
            {"comment": "hi"},
            Outcome.WOULD_CHANGE,
            "If we weren't testing, this would be successful with changes",
            True,
        ),
        (
            states.fail_without_changes,
            {},
            Outcome.FAILED,
            "If we weren't testing, this would be a failure!",
            False,
        ),
        (
            states.fail_with_changes,
            {},
            Outcome.WOULD_CHANGE,
            "If we weren't testing, this would be failed with changes",
            True,
        ),
        (states.configurable_test_state, {}, Outcome.WOULD_CHANGE, "This is a test", True),
        (states.configurable_test_state, {"result": False}, Outcome.WOULD_CHANGE, "This is a test", True),
        (states.configurable_test_state, {"changes": False}, Outcome.OK, "This is a test", False),
        (
            states.configurable_test_state,
            {"changes": False, "result": False},
            Outcome.OK,
            "This is a test",
            False,
        ),
        (
            states.configurable_test_state,
            {"changes": False, "result": False, "allow_test_mode_failure": True},
            Outcome.FAILED,
            "This is a test",
            False,
        ),
        (states.mod_watch, {}, Outcome.OK, "Watch statement fired.", True),
    ],
)
def test_test_mode_answers_as_salt_does(
    testing: Context, state: State, args: dict[str, object], outcome: Outcome, comment: str, changed: bool
) -> None:
    result = state(testing, "x", **args)
    assert (result.outcome, result.comment, result.changed) == (outcome, comment, changed)


def test_warnings_may_be_one_or_many(ctx: Context) -> None:
    assert states.configurable_test_state(ctx, "x", warnings="w").warnings == ("w",)
    assert states.configurable_test_state(ctx, "x", warnings=["w", "v"]).warnings == ("w", "v")


def test_random_is_one_of_two(ctx: Context) -> None:
    result = states.configurable_test_state(ctx, "x", changes="Random", result="Random")
    assert result.changes in ({}, CHANGED)


@pytest.mark.parametrize("args", [{"changes": 3}, {"result": "frob"}, {"result": None}])
def test_other_choices_are_refused_in_words(ctx: Context, args: dict[str, object]) -> None:
    result = states.configurable_test_state(ctx, "x", **args)  # type: ignore[arg-type]
    assert result.outcome is Outcome.FAILED
    assert "must be true, false or 'Random'" in result.comment


def test_a_notification_without_text_fails(ctx: Context) -> None:
    assert states.show_notification(ctx, "x").outcome is Outcome.FAILED


def test_results_that_never_differ_are_shared(ctx: Context) -> None:
    assert states.nop(ctx, "a") is states.nop(ctx, "b")


PILLAR: dict[str, object] = {"s": "text", "i": 3, "b": True, "l": [1], "d": {"x": {"y": 1}}}


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ({"present": ["s", "d:x:y"]}, []),
        (
            {
                "present": "s",
                "string": "s",
                "integer": "i",
                "boolean": ["b"],
                "listing": "l",
                "dictionary": "d:x",
            },
            [],
        ),
        ({"present": ["zz", "yy"]}, ['Pillar key "zz" is missing.', 'Pillar key "yy" is missing.']),
        ({"integer": "b"}, ['Pillar key "b" is not a number.']),
        ({"dictionary": "l"}, ['Pillar key "l" is not a mapping.']),
    ],
)
def test_check_pillar_names_every_key_that_is_wrong(
    make_context: Callable[..., Context], args: dict[str, object], wrong: list[str]
) -> None:
    result = states.check_pillar(make_context(pillar=PILLAR), "x", **args)  # type: ignore[arg-type]
    assert result.comment.splitlines() == wrong
    assert result.outcome is Outcome(not wrong)


def test_check_pillar_can_tell_what_is_fine(make_context: Callable[..., Context]) -> None:
    result = states.check_pillar(make_context(pillar=PILLAR), "x", present="s", string="s", verbose=True)
    assert result.comment.splitlines() == ["Those keys passed the check:", "- s (present)", "- s (text)"]


@pytest.mark.parametrize(
    "state",
    [
        states.nop,
        states.succeed_without_changes,
        states.succeed_with_changes,
        states.fail_without_changes,
        states.fail_with_changes,
        states.configurable_test_state,
        states.mod_watch,
    ],
)
def test_what_a_state_is_given_and_does_not_use_comes_back_as_data(ctx: Context, state: State) -> None:
    assert state(ctx, "x", ip="10.0.0.7", ports=[80]).data == {"ip": "10.0.0.7", "ports": [80]}


def test_a_notification_knows_its_text(ctx: Context) -> None:
    assert states.show_notification(ctx, "x", text="hello").data == {"text": "hello"}


def test_a_check_of_pillar_knows_what_it_looked_at(ctx: Context) -> None:
    data = states.check_pillar(ctx, "x", present="no:such").data
    assert data == {"keys": ["no:such"], "wrong": ['Pillar key "no:such" is missing.']}
