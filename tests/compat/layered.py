"""The registry as it will be: with providers before and after the built-in modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Protocol

from saltern.modules.api import Function, StateFunction
from saltern.modules.registry import AnyFunction, AnyState, Registry, _member, member_names


class Provider(Protocol):
    """Where the registry may look beside what is built in.

    A module with a true ``BROKEN`` offers nothing, and hides those that would be asked after it.
    """

    def module(self, kind: str, name: str) -> ModuleType | None:
        """The module, its marked functions as attributes; None if there is none to be used here."""
        ...

    def names(self, kind: str) -> list[str]: ...

    def why(self, kind: str, name: str) -> str:
        """Why a module that is there cannot be used; empty if there is none."""
        ...


class LayeredRegistry(Registry):
    def __init__(self, before: Sequence[Provider] = (), after: Sequence[Provider] = ()) -> None:
        super().__init__()
        self._before = before
        self._after = after

    def state(self, state: str, fun: str) -> AnyState | None:
        key = (state, fun)
        if self._states.get(key) is None:
            self._states[key] = self._first("states", state, fun, StateFunction)
        return self._states[key]

    def function(self, name: str) -> AnyFunction | None:
        if self._functions.get(name) is None:
            module, _, fun = name.partition(".")
            self._functions[name] = self._first("functions", module, fun, Function)
        return self._functions[name]

    def forget(self) -> None:
        """Nothing to do: what was not there is looked for again each time."""

    def _first(self, kind: str, module: str, fun: str, marked: type) -> Any:
        found = (_member(one, fun, marked) for one in self._layers(kind, module))
        return next((one for one in found if one is not None), None)

    def _layers(self, kind: str, name: str) -> Iterator[ModuleType]:
        """Every module of a name, strongest first, each looked for when the one before did not do."""
        layers = (
            *(one.module for one in self._before),
            super().module,
            *(one.module for one in self._after),
        )
        for ask in layers:
            found = ask(kind, name)
            if found is not None:
                yield found
                if getattr(found, "BROKEN", False):
                    return

    def module(self, kind: str, name: str) -> ModuleType | None:
        return next(self._layers(kind, name), None)

    def names(self, kind: str) -> list[str]:
        return sorted({*super().names(kind), *(name for one in self._before for name in one.names(kind))})

    def members(self, kind: str, name: str) -> list[str]:
        """Without those of the last providers: to list what there is should not load a whole library."""
        marked = StateFunction if kind == "states" else Function
        layers = [*(one.module(kind, name) for one in self._before), super().module(kind, name)]
        return sorted({fun for one in layers for fun in member_names(one, marked)})

    def unknown_state(self, state: str, fun: str) -> str:
        return self._why("states", state) or super().unknown_state(state, fun)

    def unknown_function(self, name: str) -> str:
        return self._why("functions", name.partition(".")[0]) or super().unknown_function(name)

    def _why(self, kind: str, name: str) -> str:
        reasons = (one.why(kind, name) for one in (*self._before, *self._after))
        return "; ".join(reason for reason in reasons if reason)
