"""Modules by name. Imported on first use; no directory is scanned, and nothing is global.

``STATES`` and ``FUNCTIONS`` list the built-in modules; ``plugins`` finds those of other packages. A module is
a Python module with marked objects (``@state``, ``@function``); one with many large
functions has them in submodules, listed in its ``LAZY`` table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from saltern.language.nature import UNDECLARED, Nature
from saltern.modules.api.declare import Function, StateFunction
from saltern.modules.api.params import Schema, schema_of
from saltern.modules.api.plugins import Plugins

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # the real one costs as much as a module

STATES: tuple[str, ...] = (
    "alias",
    "alternatives",
    "ansible",
    "archive",
    "at",
    "augeas",
    "chef",
    "cmd",
    "cron",
    "debconf",
    "docker_container",
    "docker_image",
    "docker_network",
    "docker_volume",
    "environ",
    "event",
    "exec",
    "file",
    "firewalld",
    "gem",
    "git",
    "grains",
    "group",
    "host",
    "http",
    "idem",
    "ini",
    "iptables",
    "kmod",
    "locale",
    "logrotate",
    "lvm",
    "module",
    "mount",
    "mysql_database",
    "mysql_grants",
    "mysql_query",
    "mysql_user",
    "network",
    "nftables",
    "npm",
    "pdbedit",
    "pip",
    "pkg",
    "pkgrepo",
    "postgres_cluster",
    "postgres_database",
    "postgres_extension",
    "postgres_group",
    "postgres_initdb",
    "postgres_language",
    "postgres_privileges",
    "postgres_schema",
    "postgres_tablespace",
    "postgres_user",
    "puppet",
    "pyinfra",
    "salt",
    "saltcall",
    "saltern",
    "schedule",
    "selinux",
    "service",
    "ssh_auth",
    "ssh_known_hosts",
    "sysctl",
    "system",
    "terraform",
    "test",
    "timezone",
    "user",
    "virtualenv",
    "x509",
)
FUNCTIONS: tuple[str, ...] = (
    "actionchains",
    "aliases",
    "alternatives",
    "ansible",
    "archive",
    "at",
    "augeas",
    "beacons",
    "cmd",
    "config",
    "cp",
    "cron",
    "data",
    "debconf",
    "defaults",
    "dig",
    "disk",
    "dnsutil",
    "docker",
    "environ",
    "event",
    "file",
    "firewalld",
    "gem",
    "git",
    "grains",
    "group",
    "hashutil",
    "hosts",
    "http",
    "ini",
    "ip",
    "iptables",
    "kmod",
    "locale",
    "log",
    "logrotate",
    "lowpkg",
    "lvm",
    "match",
    "mgractionchain",
    "mine",
    "mount",
    "mysql",
    "network",
    "nftables",
    "npm",
    "pdbedit",
    "pillar",
    "pip",
    "pkg",
    "postgres",
    "publish",
    "random",
    "saltutil",
    "schedule",
    "sdb",
    "selinux",
    "service",
    "shadow",
    "slsutil",
    "ssh",
    "state",
    "status",
    "sys",
    "sysctl",
    "system",
    "temp",
    "test",
    "timezone",
    "user",
    "virtualenv",
    "x509",
)

AnyState = StateFunction[Any]
AnyFunction = Function[Any, object]
M = TypeVar("M", AnyState, AnyFunction)


class Provider(Protocol):
    """A further source of modules, in addition to the built-in ones.

    A module with a true ``BROKEN`` offers nothing, and hides the modules of later providers.
    """

    def module(self, kind: str, name: str) -> ModuleType | None:
        """The module, with its marked functions as attributes; None if there is none."""

    def names(self, kind: str) -> list[str]: ...

    def why(self, kind: str, name: str) -> str:
        """Why an existing module cannot be used; empty if there is no such module."""


class Registry:
    """The modules of one run. ``states`` and ``functions`` are further modules, which win.

    All modules with a name are searched in order: those of ``before``, the built-in one, that of a
    plug-in, those of ``after``; each may supply what the earlier ones lack.
    """

    def __init__(
        self,
        states: Mapping[str, ModuleType] | None = None,
        functions: Mapping[str, ModuleType] | None = None,
        *,
        before: Sequence[Provider] = (),
        after: Sequence[Provider] = (),
    ) -> None:
        self._before = before
        self._after = after
        self._plugins = Plugins()
        self._modules: dict[tuple[str, str], ModuleType | None] = {
            **{("states", name): module for name, module in (states or {}).items()},
            **{("functions", name): module for name, module in (functions or {}).items()},
        }
        self._states: dict[tuple[str, str], AnyState | None] = {}
        self._functions: dict[str, AnyFunction | None] = {}
        self._natures: dict[tuple[str, str], Nature] = {}

    def state(self, state: str, fun: str) -> AnyState | None:
        key = (state, fun)
        if key not in self._states:
            self._states[key] = self._first("states", state, fun, StateFunction)
        return self._states[key]

    def nature(self, state: str, fun: str) -> Nature:
        """The properties of a function, which override those of its module."""
        key = (state, fun)
        found = self._natures.get(key)
        if found is None:
            found = self._natures[key] = _nature(self._layers("states", state), fun)
        return found

    def function_nature(self, name: str) -> Nature:
        """The properties that the module of an execution function declares."""
        module, _, fun = name.partition(".")
        found = (one for one in self._layers("functions", module) if _member(one, fun, Function) is not None)
        return getattr(next(found, None), "NATURE", UNDECLARED)

    def function(self, name: str) -> AnyFunction | None:
        if name not in self._functions:
            module, _, fun = name.partition(".")
            self._functions[name] = self._first("functions", module, fun, Function)
        return self._functions[name]

    def forget(self) -> None:
        """Clear the cache of missing modules."""
        self._states = {key: found for key, found in self._states.items() if found is not None}
        self._functions = {key: found for key, found in self._functions.items() if found is not None}
        self._natures.clear()
        self._plugins.forget()

    def module(self, kind: str, name: str) -> ModuleType | None:
        """The first module with this name."""
        return next(self._layers(kind, name), None)

    def _layers(self, kind: str, name: str) -> Iterator[ModuleType]:
        """All modules with this name, each loaded only if the earlier ones were not sufficient."""
        for provider in self._before:
            if (found := provider.module(kind, name)) is not None:
                yield found
                if getattr(found, "BROKEN", False):
                    return
        if (own := self._own(kind, name)) is not None:
            yield own
        for provider in (self._plugins, *self._after):
            if (found := provider.module(kind, name)) is not None:
                yield found

    def _first(self, kind: str, module: str, fun: str, marked: type[M]) -> M | None:
        found = (_member(one, fun, marked) for one in self._layers(kind, module))
        return next((one for one in found if one is not None), None)

    def _own(self, kind: str, name: str) -> ModuleType | None:
        key = (kind, name)
        if key not in self._modules:
            known = name in (STATES if kind == "states" else FUNCTIONS)
            self._modules[key] = import_module(f"saltern.modules.{kind}.{name}") if known else None
        return self._modules[key]

    def companion(self, state: str, name: str) -> object:
        """``mod_watch`` or another companion of a state module, or None."""
        module = self.module("states", state)
        return getattr(module, name, None) if module is not None else None

    def names(self, kind: str) -> list[str]:
        """All modules of a kind, built in or added, without those of the last providers, which are
        hundreds.
        """
        added = {name for provider in (*self._before, self._plugins) for name in provider.names(kind)}
        own = {name for other, name in self._modules if other == kind and self._modules[other, name]}
        built_in = {"states": set(STATES), "functions": set(FUNCTIONS)}
        return sorted(own | added | built_in.get(kind, set()))

    def members(self, kind: str, name: str) -> list[str]:
        """All functions of a module, without those of the last providers."""
        layers = [*(provider.module(kind, name) for provider in self._before), self._own(kind, name)]
        layers.append(self._plugins.module(kind, name))
        if kind == "states":
            return sorted({fun for one in layers for fun in member_names(one, StateFunction)})
        return sorted({fun for one in layers for fun in member_names(one, Function)})

    def plugin_problems(self) -> list[str]:
        """Problems with offers of plug-ins."""
        return list(self._plugins.problems({"states": STATES, "functions": FUNCTIONS}))

    def why(self, kind: str, name: str) -> str:
        """Why an existing module cannot be used; empty if there is no such module."""
        reasons = (provider.why(kind, name) for provider in (*self._before, self._plugins, *self._after))
        return "; ".join(reason for reason in reasons if reason)


def schema(function: AnyState | AnyFunction) -> Schema:
    """The schema of a function, read from its signature once; the engine passes the context and a state's
    name.
    """
    if function.schema is None:
        is_state = isinstance(function, StateFunction)
        function.schema = schema_of(
            function.body, skip=2 if is_state else 1, key=_key(function) if is_state else ""
        )
    return function.schema


def _key(function: AnyState | AnyFunction) -> str:
    """The name of a built-in state, such as ``file.managed``, whichever submodule has it."""
    _, found, place = function.module.partition("saltern.modules.states.")
    return f"{place.partition('.')[0]}.{function.name}" if found else ""


def parameters(function: AnyFunction) -> tuple[str, ...]:
    """The names of the arguments in order; none if it is not a plain function."""
    code = getattr(function.body, "__code__", None)
    return tuple(code.co_varnames[1 : code.co_argcount]) if code is not None else ()


def _nature(layers: Iterable[ModuleType], fun: str) -> Nature:
    """The properties from the first module that has the function; a reaction has those of its module."""
    for module in layers:
        found = _member(module, fun, StateFunction)
        if found is not None or fun == "mod_watch":
            shared: Nature = getattr(module, "NATURE", UNDECLARED)
            return replace(shared, **found.words) if found is not None and found.words else shared
    return UNDECLARED


def _member(module: ModuleType | None, name: str, kind: type[M]) -> M | None:
    if module is None or name.startswith("_"):
        return None
    lazy: Mapping[str, str] = getattr(module, "LAZY", {})
    if name in lazy:
        module = import_module(f"{module.__name__}.{lazy[name]}")
    found = getattr(module, name, None)
    if isinstance(found, kind) and found.name == name:
        return found
    return next((one for one in _marked_members(module, kind) if one.name == name), None)


def _marked_members(module: ModuleType, kind: type[M]) -> Iterable[M]:
    return (one for one in vars(module).values() if isinstance(one, kind))


def member_names(module: ModuleType | None, kind: type[M]) -> set[str]:
    if module is None:
        return set()
    return {one.name for one in _marked_members(module, kind)} | set(getattr(module, "LAZY", {}))
