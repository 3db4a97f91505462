"""``cmd.script`` and ``cmd.call``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.states import cmd

Put = Callable[[str, str], str]
SCRIPT = '#!/bin/sh\necho "$#:$1:$2"; stat -c %a "$0"; echo "$0"\n'


@pytest.mark.parametrize(
    ("name", "args", "first"),
    [
        ("salt://s.sh", {}, "0::"),
        ("salt://s.sh", {"args": "a 'b c'"}, "2:a:b c"),
        ("salt://s.sh", {"args": ["a", "b c"]}, "2:a:b c"),
        ("any name", {"source": "salt://s.sh", "args": "x"}, "1:x:"),
        ("s.sh one two", {"source": "salt://s.sh"}, "2:one:two"),
        ("salt://s.sh", {"shell": "/bin/bash"}, "0::"),
    ],
)
def test_a_script_runs_with_its_arguments_and_is_gone_afterwards(
    ctx: Context, tree: Put, name: str, args: dict[str, object], first: str
) -> None:
    tree("s.sh", SCRIPT)
    result = cmd.script(ctx, name, **args)  # type: ignore[arg-type]
    assert (result.outcome, result.comment) == (Outcome.OK, f"Command '{name}' run")
    lines = str(result.changes["stdout"]).splitlines()
    assert lines[:2] == [first, "500"]
    assert lines[2].endswith(".sh") and not os.path.exists(lines[2])


def test_a_local_file_and_one_without_an_interpreter_line_run_too(ctx: Context, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("echo plain; exit 3\n")
    result = cmd.script(ctx, str(tmp_path / "plain"))
    assert (result.outcome, result.changes["stdout"]) == (Outcome.FAILED, "plain")


def test_a_script_can_be_a_template(ctx: Context, tree: Put) -> None:
    tree("t.sh", "echo {{ who }} {{ engine }}\n")
    result = cmd.script(ctx, "salt://t.sh", template="jinja", defaults={"who": "no"}, context={"who": "me"})
    assert result.changes["stdout"] == "me jinja"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"source": "salt://none.sh"}, "cannot find the script salt://none.sh in environment 'base'"),
        ({"source": "salt://s.sh", "cwd": "/no"}, 'Desired working directory "/no" is not available'),
        ({"source": "salt://s.sh", "context": [1]}, "argument 'context' needs a mapping"),
        ({"source": "salt://s.sh", "args": "'open"}, "cannot split the command"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    ctx: Context, tree: Put, args: dict[str, object], said: str
) -> None:
    tree("s.sh", SCRIPT)
    result = cmd.script(ctx, "x", **args)  # type: ignore[arg-type]
    assert result.outcome is Outcome.FAILED
    assert said in result.comment


def test_test_mode_runs_no_script(testing: Context, tmp_path: Path) -> None:
    result = cmd.script(testing, "salt://s.sh")
    assert (result.outcome, result.changes) == (Outcome.WOULD_CHANGE, {})
    assert result.comment == "Command 'salt://s.sh' would have been executed"


def test_a_script_reacts_to_a_watch(ctx: Context, tree: Put) -> None:
    tree("s.sh", SCRIPT)
    assert not cmd.wait_script(ctx, "salt://s.sh").changed
    assert cmd.mod_watch(ctx, "salt://s.sh", sfun="wait_script", args="a").changed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a script as another user")
def test_a_script_of_another_user_is_that_users(ctx: Context, tree: Put) -> None:
    tree("who.sh", '#!/bin/sh\nid -un; stat -c %U "$0"\n')
    assert cmd.script(ctx, "salt://who.sh", runas="nobody").changes["stdout"] == "nobody\nnobody"


def test_call_takes_a_function_or_its_name(ctx: Context) -> None:
    assert cmd.call(ctx, "x", func=lambda a, b: a + b, args=[1], kws={"b": 2}).changes == {"retval": 3}
    named = cmd.call(ctx, "x", func="test.echo", args=["hi"])
    assert (named.comment, named.changes) == ("hi", {"retval": "hi"})


def test_call_takes_a_whole_answer(ctx: Context) -> None:
    answer = {"result": False, "comment": "no", "changes": {"a": 1}}
    result = cmd.call(ctx, "x", func=lambda: answer)
    assert (result.outcome, result.comment, result.changes) == (Outcome.FAILED, "no", {"a": 1})


def test_call_of_what_is_no_function_is_refused(ctx: Context) -> None:
    assert "needs a function" in cmd.call(ctx, "x", func="no.such").comment


def test_call_calls_nothing_in_test_mode(testing: Context) -> None:
    assert cmd.call(testing, "x", func="test.exception").outcome is Outcome.WOULD_CHANGE
    assert cmd.wait_call(testing, "x", func="test.exception").outcome is Outcome.OK


def test_data_has_what_a_script_left(ctx: Context, tree: Put) -> None:
    tree("s.sh", "#!/bin/sh\necho out; exit 3\n")
    data = cmd.script(ctx, "salt://s.sh").data
    assert (data["stdout"], data["retcode"]) == ("out", 3)


@pytest.mark.parametrize(
    ("answer", "data"),
    [
        (5, {"retval": 5}),
        ("text", {"retval": "text"}),
        ({"result": True, "data": {"id": 7}}, {"id": 7}),
        ({"result": True, "id": 7}, {"retval": {"result": True, "id": 7}}),
    ],
)
def test_data_has_what_a_function_answered(ctx: Context, answer: object, data: dict[str, object]) -> None:
    assert cmd.call(ctx, "name", func=lambda: answer).data == data
