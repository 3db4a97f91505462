"""``sys``: what functions there are."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import partial

from saltern.modules.api import function
from saltern.modules.context import Context


def _names(ctx: Context) -> list[str]:
    """Every function by name, if who calls us knows them all."""
    functions = ctx.functions
    return sorted(map(str, functions)) if isinstance(functions, Iterable) else []


def _chosen(ctx: Context, patterns: tuple[str, ...]) -> list[str]:
    """All, or those whose name or module fits one of the patterns."""
    names = _names(ctx)
    if not patterns:
        return names
    return [
        name
        for name in names
        if any(fnmatchcase(name, one) or fnmatchcase(name.partition(".")[0], one) for one in patterns)
    ]


@function
def list_modules(ctx: Context, /, *patterns: str) -> list[str]:
    """The modules with functions, or those whose name fits."""
    modules = sorted({name.partition(".")[0] for name in _names(ctx)})
    return [name for name in modules if not patterns or any(fnmatchcase(name, one) for one in patterns)]


@function
def list_functions(ctx: Context, /, *patterns: str, **_: object) -> list[str]:
    """The functions, or those of a module, or those whose name fits."""
    return _chosen(ctx, patterns)


@function
def doc(ctx: Context, /, *patterns: str) -> dict[str, str]:
    """The descriptions of functions."""
    return {name: _body(ctx, name).__doc__ or "" for name in _chosen(ctx, patterns)}


def _body(ctx: Context, name: str) -> Callable[..., object]:
    """The function itself; what ``salt`` gives has the context bound to it."""
    bound = ctx.functions[name]
    return bound.func if isinstance(bound, partial) else bound


@function
def argspec(ctx: Context, module: str = "") -> dict[str, dict[str, object]]:
    """The arguments of functions."""
    import inspect

    result: dict[str, dict[str, object]] = {}
    for name in _chosen(ctx, (module,) if module else ()):
        try:
            spec = inspect.getfullargspec(_body(ctx, name))
        except TypeError:
            continue
        args = [arg for arg in spec.args if arg != "ctx"] + spec.kwonlyargs
        result[name] = {
            "args": args,
            "defaults": list(spec.defaults) if spec.defaults else None,
            "varargs": True if spec.varargs else None,
            "kwargs": True if spec.varkw else None,
        }
    return result


@function
def reload_modules(ctx: Context) -> bool:
    """Nothing to do: a run loads each module once."""
    return True
