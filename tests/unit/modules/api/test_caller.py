"""One call: what a module raises or returns never leaves it as an exception."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest
from tests import kit
from tests.kit import chunk

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.result import Outcome, Result, ok
from saltern.modules.api.caller import ModuleCaller
from saltern.modules.api.context import Context
from saltern.modules.api.declare import StateFunction, function, state
from saltern.modules.api.registry import Registry


@state
def seen(ctx: Context, name: str, *, size: int = 1) -> Result:
    mask = os.umask(0)
    os.umask(mask)
    return ok(name, size=size, test=ctx.test, env=ctx.env, runas=ctx.runas, umask=mask)


@state
def burns(ctx: Context, name: str) -> Result:
    raise RuntimeError("on fire")


@state
def missing(ctx: Context, name: str) -> Result:
    raise FileNotFoundError(2, "No such file or directory", name)


@state
def told(ctx: Context, name: str) -> Result:
    raise OperationError(Diagnostic(code="disk-full", what="the disk is full"))


@state
def nothing(ctx: Context, name: str) -> Result:
    return None  # type: ignore[return-value]


@state
def salty(ctx: Context, name: str) -> Result:
    return {"name": name, "result": True}  # type: ignore[return-value]


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "", **_: object) -> Result:
    return ok(f"reacted to {sfun}")


@function
def echo(ctx: Context, text: str, *, more: str = "") -> str:
    return text + more


def module(*members: object) -> ModuleType:
    made = ModuleType("own")
    for one in members:
        setattr(made, one.name, one)  # type: ignore[attr-defined]
    return made


@pytest.fixture
def caller(tmp_path: Path) -> ModuleCaller:
    states = {"own": module(seen, burns, missing, told, nothing, salty, mod_watch), "mute": module(seen)}
    registry = Registry(states=states, functions={"own": module(echo)})
    return kit.Tree({}, str(tmp_path / "tree"), registry=registry).session().caller


def test_a_state_gets_its_name_its_arguments_and_its_surroundings(caller: ModuleCaller) -> None:
    one = chunk("a", state="own", fun="seen", name="x", size="3")
    result = caller.call(one, one.args, test=True)
    assert (result.comment, result.data["size"], result.data["test"], result.data["env"]) == (
        "x",
        3,
        True,
        "base",
    )


def test_the_words_that_change_the_surroundings(caller: ModuleCaller) -> None:
    one = chunk("a", state="own", fun="seen", saltenv="dev", runas="me", umask="077")
    before = os.umask(0o022)
    try:
        data = caller.call(one, one.args, test=False).data
        assert (data["env"], data["runas"], data["umask"]) == ("dev", "me", 0o77)
        assert os.umask(0o022) == 0o022  # as it was before the call
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("fun", "comment"),
    [
        ("burns", "failed: RuntimeError: on fire (at test_caller.py:"),
        ("missing", "x: No such file or directory"),
        ("told", "the disk is full"),
        ("nothing", "returned NoneType, not a Result"),
        ("salty", "returned dict, not a Result"),
        ("sene", "did you mean 'seen'?"),
    ],
)
def test_whatever_goes_wrong_is_a_failed_result(fun: str, comment: str, caller: ModuleCaller) -> None:
    one = chunk("a", state="own", fun=fun, name="x")
    result = caller.call(one, one.args, test=False)
    assert result.outcome is Outcome.FAILED
    assert comment in result.comment
    assert "Traceback" not in result.comment


def test_arguments_that_do_not_fit_are_reported_with_the_place(caller: ModuleCaller) -> None:
    one = chunk("a", state="own", fun="seen", size="big", wide=1)
    result = caller.call(one, one.args, test=False)
    assert result.outcome is Outcome.FAILED
    assert "argument 'size': needs a number" in result.comment
    assert "no argument is called 'wide'" in result.comment
    assert "main.sls" in result.comment


def test_a_reaction_is_reported_the_function(caller: ModuleCaller) -> None:
    one = chunk("a", state="own", fun="seen", size=1)
    assert caller.react(one, one.args, fun="seen", test=False).comment == "reacted to seen"
    assert (caller.reacts("own"), caller.reacts("mute"), caller.reacts("nowhere")) == (True, False, False)
    mute = chunk("a", state="mute", fun="seen")
    assert "'mute.mod_watch' was not found" in caller.react(mute, {}, fun="seen", test=False).comment


def test_functions_are_called_by_name(caller: ModuleCaller) -> None:
    assert caller.function("own.echo", ["a"], {"more": "b"}) == "ab"
    with pytest.raises(LookupError, match="did you mean 'echo'"):
        caller.function("own.ehco", [], {})


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("exit 3", 3), ("surely-no-such-command", 127)])
def test_a_command_is_its_exit_code(command: str, code: int, caller: ModuleCaller) -> None:
    assert caller.command(command, {}) == code


def test_a_command_runs_with_its_options(caller: ModuleCaller, tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    assert caller.command("test -e here", {"cwd": str(tmp_path)}) == 0
    assert caller.command('test "$WHO" = you', {"env": [{"WHO": "you"}]}) == 0
    assert caller.command("test $(umask) = 0077", {"umask": "077"}) == 0


def test_a_path_exists_even_if_it_is_a_link_to_nowhere(caller: ModuleCaller, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert caller.exists(str(tmp_path / "link"))
    assert not caller.exists(str(tmp_path / "nowhere"))


def test_a_function_that_takes_a_word_of_the_engine_owns_it(caller: ModuleCaller) -> None:
    assert caller.takes(chunk("a", state="own", fun="seen"), "size")
    assert not caller.takes(chunk("a", state="own", fun="seen"), "check_cmd")
    assert not caller.takes(chunk("a", state="own", fun="nothing_like_that"), "size")


def test_marked_functions_can_be_called_like_functions() -> None:
    assert isinstance(seen, StateFunction)
    assert seen.name == "seen"


@pytest.mark.parametrize(("fun", "dashed"), [("guarded", ["-x"]), ("command", [])])
def test_only_what_runs_commands_may_pass_options_on(fun: str, dashed: list[str], tmp_path: Path) -> None:
    @state
    def guarded(ctx: Context, name: str) -> Result:
        return ok(name, dashed=sorted(ctx.dashed))

    command = StateFunction(guarded.body, "command", {"runs_commands": True})
    registry = Registry(states={"own": module(guarded, command)})
    caller = kit.Tree({}, str(tmp_path / "tree"), registry=registry).session().caller
    one = chunk("a", state="own", fun=fun, name="-x")
    assert caller.call(one, one.args, test=False).data["dashed"] == dashed
