"""``module.run`` in both forms."""

from __future__ import annotations

import pytest

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.states import module


@pytest.mark.parametrize(
    ("args", "changes"),
    [
        ({"test.echo": ["hello"]}, {"test.echo": "hello"}),
        ({"test.echo": [{"text": "kk"}]}, {"test.echo": "kk"}),
        ({"test.echo": "plain"}, {"test.echo": "plain"}),
        ({"test.ping": None}, {"test.ping": True}),
        (
            {"test.arg": [1, "two", {"k": "v"}], "test.true": []},
            {"test.arg": {"args": [1, "two"], "kwargs": {"k": "v"}}, "test.true": True},
        ),
        ({"test.kwarg": {"a": 1}}, {"test.kwarg": {"a": 1}}),
    ],
)
def test_the_newer_form_calls_every_function(
    ctx: Context, args: dict[str, object], changes: dict[str, object]
) -> None:
    result = module.run(ctx, "id", **args)
    assert (result.outcome, result.changes) == (Outcome.OK, changes)


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("test.echo", {"text": "hi"}, "hi"),
        ("id", {"func": "test.echo", "text": "hi", "returner": "x"}, "hi"),
        ("test.arg", {"args": [1, 2], "kwargs": {"a": 1}}, {"args": [1, 2], "kwargs": {"a": 1}}),
        ("test.arg", {"args": 1, "kwargs": [{"a": 1}]}, {"args": [1], "kwargs": {"a": 1}}),
        ("test.kwarg", {"m_name": "root"}, {"name": "root"}),
    ],
)
def test_the_older_form_has_the_function_in_its_name(
    ctx: Context, name: str, args: dict[str, object], answer: object
) -> None:
    result = module.run(ctx, name, **args)
    assert (result.outcome, result.changes) == (Outcome.OK, {"ret": answer})


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"test.false": []}, "'test.false' failed: it returned False"),
        ({"test.exception": ["boo"]}, "'test.exception' failed: boo"),
        ({"cmd.run_all": [{"cmd": "exit 3"}, {"python_shell": True}]}, "'cmd.run_all' failed: exit code 3"),
        ({"test.echo": [{"textt": 1}]}, "'test.echo' failed: "),
    ],
)
def test_a_function_that_fails_fails_the_state(ctx: Context, args: dict[str, object], said: str) -> None:
    result = module.run(ctx, "id", **args)
    assert result.outcome is Outcome.FAILED
    assert result.comment.startswith(said)


def test_an_unknown_function_is_reported_and_nothing_is_called(ctx: Context) -> None:
    result = module.run(ctx, "id", **{"data.update": ["k", 1], "test.ehco": ["x"]})
    assert result.outcome is Outcome.FAILED
    assert result.comment == "no function is called 'test.ehco'; did you mean 'test.echo'?"
    assert ctx.functions["data.items"]() == {}


def test_test_mode_lists_what_would_be_called(testing: Context) -> None:
    result = module.run(testing, "id", **{"test.exception": [], "test.ping": []})
    assert result.outcome is Outcome.WOULD_CHANGE
    assert result.comment == "Functions test.exception, test.ping to be executed."
    assert result.changes == {}


def test_test_mode_finds_unknown_functions_too(testing: Context) -> None:
    assert module.run(testing, "no.such").outcome is Outcome.FAILED


def test_wait_calls_only_when_a_watch_fires(ctx: Context) -> None:
    assert not module.wait(ctx, "id", **{"test.echo": ["w"]}).changed
    assert module.mod_watch(ctx, "id", sfun="wait", **{"test.echo": ["w"]}).changes == {"test.echo": "w"}


def test_data_has_every_answer_by_its_function(ctx: Context) -> None:
    result = module.run(ctx, "id", **{"test.echo": ["w"], "test.false": [], "test.exception": []})
    assert result.outcome is Outcome.FAILED
    assert result.data == {"test.echo": "w", "test.false": False}


def test_data_of_the_older_form_has_the_answer_as_ret(ctx: Context) -> None:
    assert module.run(ctx, "test.echo", text="hi").data == {"ret": "hi"}
