"""What the modules declare themselves to be, as the registry tells the engine."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from saltern.language.nature import TAKE_AWAY, Nature
from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.registry import STATES, Registry


def _own(name: str = "own", **offered: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(offered)
    return module


@state
def run(ctx: Context, name: str) -> Result:
    return ok(name)


@state(repeat="once", removes=True)
def wipe(ctx: Context, name: str) -> Result:
    return ok(name)


@state(name="import", refreshes=("pillar",))
def import_(ctx: Context, name: str) -> Result:
    return ok(name)


SHARED = Nature(installs=True, refreshes=("grains",))


def test_a_function_has_the_words_of_its_module_and_its_own_win() -> None:
    registry = Registry(states={"own": _own(run=run, wipe=wipe, import_=import_, NATURE=SHARED)})
    assert registry.nature("own", "run") == SHARED
    assert registry.nature("own", "wipe") == Nature(
        repeat="once", removes=True, installs=True, refreshes=("grains",)
    )
    assert registry.nature("own", "import") == Nature(installs=True, refreshes=("pillar",))


def test_a_reaction_has_the_words_of_its_module() -> None:
    registry = Registry(states={"own": _own(run=run, NATURE=Nature(repeat="once")), "none": _own(run=run)})
    assert registry.nature("own", "mod_watch").repeat == "once"
    assert registry.nature("none", "mod_watch") == Nature()


@pytest.mark.parametrize(("state", "fun"), [("own", "nothing"), ("nothing", "run"), ("own", "_hidden")])
def test_nothing_is_declared_of_what_does_not_exist(state: str, fun: str) -> None:
    registry = Registry(states={"own": _own(run=run, NATURE=Nature(repeat="once"))})
    assert registry.nature(state, fun) == Nature()


def test_the_module_that_is_called_is_the_one_that_declares() -> None:
    class Before:
        """A module of the user's own that has one function of a built-in one."""

        def module(self, kind: str, name: str) -> ModuleType | None:
            return _own(run=run) if (kind, name) == ("states", "cmd") else None

        def names(self, kind: str) -> list[str]:
            return ["cmd"] if kind == "states" else []

        def why(self, kind: str, name: str) -> str:
            return ""

    registry = Registry(before=(Before(),))
    assert registry.nature("cmd", "run") == Nature()
    assert registry.nature("cmd", "script").repeat == "once"


def test_what_was_not_there_is_asked_again_once_modules_are_looked_for_again() -> None:
    found: list[ModuleType] = []

    class Late:
        def module(self, kind: str, name: str) -> ModuleType | None:
            return found[0] if found and name == "late" else None

        def names(self, kind: str) -> list[str]:
            return []

        def why(self, kind: str, name: str) -> str:
            return ""

    registry = Registry(before=(Late(),))
    assert registry.nature("late", "wipe") == Nature()
    found.append(_own(wipe=wipe))
    registry.forget()
    assert registry.nature("late", "wipe").repeat == "once"


# -- what is built in ------------------------------------------------------------------------------------

NATURES = {
    f"{name}.{fun}": registry.nature(name, fun)
    for registry in [Registry()]
    for name in STATES
    for fun in registry.members("states", name)
}


def _modules(of: Callable[[Nature], object]) -> set[str]:
    return {key.partition(".")[0] for key, nature in NATURES.items() if of(nature)}


def test_commands_calls_and_events_are_not_called_twice() -> None:
    assert _modules(lambda nature: nature.repeat == "once") == {"cmd", "event", "exec", "module"}
    assert _modules(lambda nature: nature.repeat == "safe").isdisjoint({"cmd", "event", "exec", "module"})


def test_only_commands_act_by_programs_alone() -> None:
    programs = {key for key, nature in NATURES.items() if nature.programs_only}
    assert programs == {"cmd.run", "cmd.wait", "cmd.script", "cmd.wait_script", "cmd.mod_watch"}


def test_who_installs_what_may_be_a_module_or_this_program() -> None:
    assert _modules(lambda nature: nature.installs) == {"pkg", "pip", "virtualenv"}
    assert _modules(lambda nature: nature.reloads) == {"pkg", "pip"}
    assert _modules(lambda nature: nature.refreshes) == {"grains"}


def test_functions_that_are_named_for_it_say_that_they_take_something_away() -> None:
    removing = {key for key, nature in NATURES.items() if nature.removes}
    assert removing == {key for key in NATURES if key.partition(".")[2] in TAKE_AWAY}
    assert {"file.absent", "pkg.purged", "service.dead", "iptables.delete"} <= removing


def test_what_the_checks_and_the_door_for_options_ask_is_declared() -> None:
    registry = Registry()
    assert registry.nature("file", "managed").name_is == "path"
    assert registry.nature("cron", "file").name_is == "source"
    assert registry.nature("file", "recurse").from_file
    assert registry.nature("cmd", "run").acts_always
    assert not registry.nature("cmd", "wait").acts_always
    assert "unless" in registry.nature("module", "run").advice
    assert registry.nature("cron", "present").runs_commands
    assert registry.function_nature("cmd.run").runs_commands
    assert registry.function_nature("state.apply").runs_commands
    assert not registry.function_nature("user.add").runs_commands
    assert not registry.function_nature("nothing.known").runs_commands


def test_a_state_of_the_users_own_can_declare_them_too() -> None:
    @state(name_is="path", acts_always=True, advice="say when", runs_commands=True)
    def mine(ctx: Context, name: str) -> Result:
        return ok(name)

    found = Registry(states={"own": _own(mine=mine)}).nature("own", "mine")
    assert (found.name_is, found.acts_always, found.advice) == ("path", True, "say when")
    assert found.runs_commands
    with pytest.raises(ValueError, match="name_is"):
        Nature(name_is="elsewhere")  # type: ignore[arg-type]
