"""``salt``: execution functions for templates, ``salt['mod.fun'](…)`` or ``salt.mod.fun(…)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from saltern.modules.api.argv import given_words
from saltern.modules.api.context import Context
from saltern.modules.api.registry import parameters

if TYPE_CHECKING:
    from saltern.modules.api.context import Run
    from saltern.modules.api.registry import AnyFunction, Registry


class Salt:
    """A lazy mapping: a function is looked up when it is named."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._known: dict[str, Callable[..., object]] = {}
        self._context: Context | None = None

    @property
    def registry(self) -> Registry:
        """The registry of the functions, which also has the states."""
        return self._registry

    def bind(self, run: Run) -> None:
        """Set the run of the functions, which itself needs ``salt`` first."""
        self._context = Context(run)

    def __getitem__(self, name: str) -> Callable[..., object]:
        known = self._known.get(name)
        if known is None:
            function = self._registry.function(name)
            if function is None or self._context is None:
                raise KeyError(name)
            known = self._known[name] = self._guard_call(name, function, self._context)
        return known

    def _guard_call(self, name: str, function: AnyFunction, context: Context) -> Callable[..., object]:
        """The function in its context, or in a guarded one if an argument looks like an option."""
        names = parameters(function)
        checked = not self._registry.function_nature(name).runs_commands

        def call(*args: object, **kwargs: object) -> object:
            words = given_words(names, args, kwargs) if checked else None
            here = Context(context.run, dashed=words) if words else context
            return function.body(here, *args, **kwargs)

        call.__name__, call.__doc__ = name, function.doc
        vars(call)["__wrapped__"] = function.body  # the function with these arguments
        return call

    def get(self, name: str, default: object = None) -> object:
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._registry.function(name) is not None

    def __iter__(self) -> Iterator[str]:
        for module in self._registry.names("functions"):
            for fun in self._registry.members("functions", module):
                yield f"{module}.{fun}"

    def keys(self) -> list[str]:
        return list(self)

    def __getattr__(self, module: str) -> Namespace:
        if module.startswith("_") or self._registry.module("functions", module) is None:
            raise AttributeError(module)
        return Namespace(self, module)

    def unknown(self, name: str) -> str:
        """Why there is no such function."""
        from saltern.modules.api.unknown_names import unknown_function

        return unknown_function(self._registry, name)


class Namespace:
    """``salt.mod``."""

    def __init__(self, salt: Salt, module: str) -> None:
        self._salt = salt
        self._module = module

    def __getattr__(self, fun: str) -> Callable[..., object]:
        try:
            return self._salt[f"{self._module}.{fun}"]
        except KeyError:
            raise AttributeError(fun) from None

    def __getitem__(self, fun: str) -> Callable[..., object]:
        return self._salt[f"{self._module}.{fun}"]

    def __str__(self) -> str:
        return self._module
