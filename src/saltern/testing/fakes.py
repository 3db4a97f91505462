"""Functions and states that a test uses in place of real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, StateFunction
from saltern.modules.api.registry import STATES

# A fake: the answer itself, or a function with the arguments of the real one.
FakeFunction = Callable[..., object] | object
FakeState = Result | Callable[..., Result | None]


class Fakes:
    """Implements ``modules.registry.Provider``: only the faked functions of a module are replaced."""

    def __init__(
        self,
        functions: Mapping[str, FakeFunction] | None = None,
        states: Mapping[str, FakeState] | None = None,
    ) -> None:
        self._modules: dict[tuple[str, str], ModuleType] = {}
        for name, answer in (functions or {}).items():
            module, fun = _split(name)
            setattr(self._module("functions", module), fun, Function(_function(answer), fun))
        for name, given in (states or {}).items():
            module, fun = _split(name)
            faked = self._module("states", module)
            setattr(faked, fun, StateFunction(_state(given), fun))
            _react_as_before(faked, module)

    def _module(self, kind: str, name: str) -> ModuleType:
        return self._modules.setdefault((kind, name), ModuleType(name))

    def module(self, kind: str, name: str) -> ModuleType | None:
        return self._modules.get((kind, name))

    def names(self, kind: str) -> list[str]:
        return [name for other, name in self._modules if other == kind]

    def why(self, kind: str, name: str) -> str:
        del kind, name
        return ""


def _split(name: str) -> tuple[str, str]:
    module, dot, fun = name.partition(".")
    if not (module and dot and fun):
        raise ValueError(f"a fake is named as module.function, not {name!r}")
    return module, fun


def _function(answer: FakeFunction) -> Callable[..., object]:
    def call(_ctx: Context, *args: object, **kwargs: object) -> object:
        return answer(*args, **kwargs) if callable(answer) else answer

    return call


def _state(given: FakeState) -> Callable[..., Result]:
    def call(_ctx: Context, name: str, **kwargs: object) -> Result:
        made = given if isinstance(given, Result) else given(name, **kwargs)
        return ok("faked") if made is None else made

    return call


def _react_as_before(faked: ModuleType, name: str) -> None:
    """Keep the reaction to ``watch`` of a module that has one; it reports that it reacted."""
    if name not in STATES or hasattr(faked, "mod_watch"):
        return
    real = import_module(f"saltern.modules.states.{name}")
    if hasattr(real, "mod_watch"):
        faked.mod_watch = StateFunction(_react, "mod_watch")  # type: ignore[attr-defined]


def _react(_ctx: Context, /, name: str, **_kwargs: object) -> Result:
    return ok(f"{name} reacted", changes={name: "reacted"})
