"""Messages for unknown states and functions, with suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.diagnostics import did_you_mean

if TYPE_CHECKING:
    from saltern.modules.api.registry import Registry


def unknown_state(registry: Registry, state: str, fun: str) -> str:
    """Why there is no such state, and a suggestion."""
    return _unknown(registry, "states", state, fun, a_module="state module")


def unknown_function(registry: Registry, name: str) -> str:
    """Why there is no function ``module.name``, and a suggestion."""
    module, _, fun = name.partition(".")
    return _unknown(registry, "functions", module, fun, a_module="module")


def _unknown(registry: Registry, kind: str, module: str, fun: str, *, a_module: str) -> str:
    if why := registry.why(kind, module):
        return why
    if registry.module(kind, module) is None:
        what, hint = f"no {a_module} is called {module!r}", did_you_mean(module, registry.names(kind))
    else:
        what = f"the {a_module} {module!r} has no function {fun!r}"
        hint = did_you_mean(fun, registry.members(kind, module))
    return f"{what}; {hint}" if hint else what
