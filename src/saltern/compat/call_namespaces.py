"""``__salt__``, ``__states__`` and ``__utils__``: the functions that Salt-style code calls by name.

The first of these that has the function provides it, as in the registry: the user's modules, ours, those of
an installed Salt. A Salt-style function is returned unchanged. One of ours is wrapped: it gets the context of
the call, and its problems become the exceptions that such code expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saltern.compat.adapt import SaltFunction, SaltState
from saltern.compat.imports import import_shim
from saltern.compat.loader import stand_in
from saltern.compat.results import to_salt
from saltern.language.diagnostics import SalternError
from saltern.modules.api.declare import Function, StateFunction
from saltern.modules.api.params import BadArgument, bind
from saltern.modules.api.registry import schema
from saltern.modules.api.unknown_names import unknown_function, unknown_state

if TYPE_CHECKING:
    from saltern.compat.library import Library


class Missing(KeyError):
    """A missing function; its text is the error message."""

    def __str__(self) -> str:
        return str(self.args[0])


class ByName(Mapping[str, Callable[..., Any]]):
    """Functions by ``module.function``, also as attributes: ``__salt__.cmd.run``."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, Callable[..., Any]] = {}

    def find(self, name: str) -> Callable[..., Any] | None:
        raise NotImplementedError

    def why(self, name: str) -> str:
        return f"no function is called {name!r}"

    def __getitem__(self, name: str) -> Callable[..., Any]:
        known = self._known.get(name)
        if known is None:
            known = self.find(name) if isinstance(name, str) and "." in name else None
            if known is None:
                raise Missing(f"{name!r} is not available: {self.why(str(name))}")
            self._known[name] = known
        return known

    def __setitem__(self, name: str, function: Callable[..., Any]) -> None:
        self._known[name] = function

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, module: str) -> Attributes:
        if module.startswith("_"):
            raise AttributeError(module)
        return Attributes(self, module)

    def forget(self) -> None:
        self._known.clear()


class Attributes:
    def __init__(self, functions: ByName, module: str) -> None:
        self._functions = functions
        self._module = module

    def __getattr__(self, fun: str) -> Callable[..., Any]:
        try:
            return self._functions[f"{self._module}.{fun}"]
        except KeyError as problem:
            raise AttributeError(str(problem)) from None


class Functions(ByName):
    """``__salt__``."""

    def find(self, name: str) -> Callable[..., Any] | None:
        function = self._library.registry.function(name)
        if function is None:
            return None
        return function.raw if isinstance(function, SaltFunction) else self._native(name, function)

    def why(self, name: str) -> str:
        return unknown_function(self._library.registry, name)

    def __iter__(self) -> Iterator[str]:
        registry = self._library.registry
        for module in registry.names("functions"):
            for fun in registry.members("functions", module):
                yield f"{module}.{fun}"

    def _native(self, name: str, function: Function[..., Any]) -> Callable[..., Any]:
        """Call our function; if it does not have an argument, call that of an installed Salt."""
        library = self._library

        def call(*args: Any, **kwargs: Any) -> Any:
            known = schema(function)
            kwargs = {key: value for key, value in kwargs.items() if not key.startswith("__pub_")}
            if not known.open and not kwargs.keys() <= known.params.keys():
                other = library.installed.member("functions", name)
                if isinstance(other, SaltFunction):
                    return other.raw(*args, **kwargs)
            try:
                return function.body(library.call().ctx, *args, **kwargs)
            except (SalternError, BadArgument) as problem:
                raise library.salt.exception("CommandExecutionError")(str(problem)) from None

        call.__module__ = stand_in(library, name.partition(".")[0], function.body.__code__.co_filename)
        return _copy_signature(call, function)


class States(ByName):
    """``__states__``."""

    def find(self, name: str) -> Callable[..., Any] | None:
        module, _, fun = name.partition(".")
        state = self._library.registry.state(module, fun)
        if state is None:
            return None
        return state.raw if isinstance(state, SaltState) else self._native(state)

    def why(self, name: str) -> str:
        module, _, fun = name.partition(".")
        return unknown_state(self._library.registry, module, fun)

    def _native(self, state: StateFunction[Any]) -> Callable[..., Any]:
        library = self._library

        def call(name: str, *args: Any, **kwargs: Any) -> dict[str, object]:
            try:
                if args:
                    kwargs = {**dict(zip(schema(state).params, args, strict=False)), **kwargs}
                keywords = bind(schema(state), kwargs)
                result = state.body(library.call().ctx, name, **keywords)
            except (SalternError, BadArgument, OSError) as problem:
                return {"name": name, "result": False, "changes": {}, "comment": str(problem)}
            return to_salt(result, name)

        return _copy_signature(call, state)


class Utilities(ByName):
    """``__utils__``: the user's ``_utils``, then Salt's, then our few."""

    def find(self, name: str) -> Callable[..., Any] | None:
        module, _, fun = name.partition(".")
        for shelf in (self._library.own, self._library.installed):
            member = shelf.member("utils", name)
            if isinstance(member, SaltFunction):
                return member.raw
        return getattr(_shim(module), fun, None)


class Serializers(ByName):
    """``__serializers__``: only an installed Salt has them."""

    def find(self, name: str) -> Callable[..., Any] | None:
        if not self._library.salt.directory:
            return None
        module, _, fun = name.partition(".")
        try:
            found: Callable[..., Any] | None = getattr(import_module(f"salt.serializers.{module}"), fun, None)
        except ImportError:
            return None
        return found


def _shim(module: str) -> ModuleType | None:
    try:
        return import_shim(f"salt.utils.{module}", ("*",))
    except ImportError:
        return None


def _copy_signature(
    call: Callable[..., Any], function: Function[..., Any] | StateFunction[Any]
) -> Callable[..., Any]:
    """Copy the signature and docstring of the called function, since modules inspect them."""
    from inspect import signature

    call.__name__ = function.name
    call.__doc__ = function.doc
    whole = signature(function.body)
    call.__signature__ = whole.replace(parameters=list(whole.parameters.values())[1:])  # type: ignore[attr-defined]
    return call
