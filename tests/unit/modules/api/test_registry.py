"""Modules by name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, StateFunction, function, state
from saltern.modules.api.registry import FUNCTIONS, STATES, Registry, schema
from saltern.modules.api.unknown_names import unknown_function, unknown_state


@state
def shown(ctx: Context, name: str, *, size: int = 1) -> Result:
    return ok(name)


@state(name="import")
def import_(ctx: Context, name: str) -> Result:
    return ok(name)


@function
def told(ctx: Context, text: str) -> object:
    return text


def unmarked(ctx: Context, name: str) -> Result:
    return ok(name)


def own() -> ModuleType:
    module = ModuleType("own")
    for name, value in {
        "shown": shown,
        "import_": import_,
        "told": told,
        "unmarked": unmarked,
        "_hidden": shown,
    }.items():
        setattr(module, name, value)
    return module


REGISTRY = Registry(states={"own": own(), "test": own()}, functions={"own": own()})


@pytest.mark.parametrize("name", STATES)
def test_every_state_module_that_is_listed_is_there_and_has_functions(name: str) -> None:
    assert Registry().members("states", name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_module_that_is_listed_is_there_and_has_functions(name: str) -> None:
    assert Registry().members("functions", name)


def test_every_member_can_be_found_by_its_name() -> None:
    registry = Registry()
    for name in STATES:
        for fun in registry.members("states", name):
            assert isinstance(registry.state(name, fun), StateFunction), f"{name}.{fun}"
    for name in FUNCTIONS:
        for fun in registry.members("functions", name):
            assert isinstance(registry.function(f"{name}.{fun}"), Function), f"{name}.{fun}"


def test_the_tables_are_sorted() -> None:
    assert list(STATES) == sorted(STATES)
    assert list(FUNCTIONS) == sorted(FUNCTIONS)


def test_only_what_is_marked_can_be_called() -> None:
    assert REGISTRY.state("own", "shown") is shown
    assert REGISTRY.function("own.told") is told
    for fun in ("unmarked", "_hidden", "told", "__name__", "nothing", ""):
        assert REGISTRY.state("own", fun) is None
    assert REGISTRY.function("own.shown") is None
    assert REGISTRY.function("own") is None


def test_a_name_that_python_does_not_allow_can_be_given() -> None:
    assert REGISTRY.state("own", "import") is import_
    assert REGISTRY.state("own", "import_") is None
    assert "import" in REGISTRY.members("states", "own")


def test_an_added_module_wins_over_one_that_is_built_in() -> None:
    assert REGISTRY.state("test", "shown") is shown
    assert REGISTRY.state("test", "nop") is None
    assert Registry().state("test", "nop") is not None


def test_two_registries_share_nothing() -> None:
    assert Registry().state("own", "shown") is None


@pytest.mark.parametrize(
    ("state_", "fun", "told_"),
    [
        ("tset", "nop", "no state module is called 'tset'; did you mean 'test'?"),
        ("own", "shwon", "has no function 'shwon'; did you mean 'shown'?"),
        ("zzzzzz", "x", "no state module is called 'zzzzzz'"),
    ],
)
def test_what_is_unknown_suggests_something(state_: str, fun: str, told_: str) -> None:
    assert told_ in unknown_state(REGISTRY, state_, fun)


def test_an_unknown_function_suggests_something() -> None:
    assert "did you mean 'told'?" in unknown_function(REGISTRY, "own.tolf")
    assert "did you mean 'own'?" in unknown_function(REGISTRY, "owm.told")


def test_the_schema_is_read_once_and_leaves_out_what_the_engine_passes() -> None:
    assert list(schema(shown).params) == ["size"]
    assert list(schema(told).params) == ["text"]
    assert schema(shown) is schema(shown)


@pytest.mark.parametrize(("folder", "table"), [("states", STATES), ("functions", FUNCTIONS)])
def test_every_module_that_is_shipped_can_be_called(folder: str, table: tuple[str, ...]) -> None:
    package = import_module(f"saltern.modules.{folder}")
    shipped = {found.name for found in iter_modules(package.__path__)}
    assert shipped == set(table)
    assert list(table) == sorted(table)
