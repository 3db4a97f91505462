"""``sys``: list and describe the available functions and states."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import partial

from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.api.registry import Registry, schema
from saltern.modules.api.salt import Salt


def _names(ctx: Context) -> list[str]:
    """The names of all functions, if the caller knows them."""
    functions = ctx.functions
    return sorted(map(str, functions)) if isinstance(functions, Iterable) else []


def _chosen_names(ctx: Context, patterns: tuple[str, ...]) -> list[str]:
    """All names, or those whose name or module matches one of the patterns."""
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
    """The modules with functions, or those whose name matches.

    Example:
        ```console
        $ saltern call sys.list_modules 'p*'
        ```
    """
    modules = sorted({name.partition(".")[0] for name in _names(ctx)})
    return [name for name in modules if not patterns or any(fnmatchcase(name, one) for one in patterns)]


@function
def list_functions(ctx: Context, /, *patterns: str, **_: object) -> list[str]:
    """The functions, or those of a module, or those whose name matches.

    Example:
        ```console
        $ saltern call sys.list_functions sysctl
        local:
            - sysctl.assign
            - sysctl.default_config
            - sysctl.get
            - sysctl.persist
            - sysctl.show
        ```
    """
    return _chosen_names(ctx, patterns)


@function
def doc(ctx: Context, /, *patterns: str) -> dict[str, str]:
    """The descriptions of functions.

    Example:
        ```console
        $ saltern call sys.doc hosts.get_ip
        ```
    """
    return {name: _body(ctx, name).__doc__ or "" for name in _chosen_names(ctx, patterns)}


def _body(ctx: Context, name: str) -> Callable[..., object]:
    """The function itself; that of ``salt`` has the context bound to it."""
    from inspect import unwrap

    bound = ctx.functions[name]
    return bound.func if isinstance(bound, partial) else unwrap(bound)


@function
def argspec(ctx: Context, module: str = "") -> dict[str, dict[str, object]]:
    """The arguments of functions.

    Example:
        ```console
        $ saltern call sys.argspec hosts.get_ip
        local:
            ----------
            hosts.get_ip:
                ----------
                args:
                    - host
                defaults:
                    None
                kwargs:
                    None
                varargs:
                    None
        ```
    """
    import inspect

    result: dict[str, dict[str, object]] = {}
    for name in _chosen_names(ctx, (module,) if module else ()):
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
    """Do nothing: a run loads each module once.

    Example:
        ```console
        $ saltern call sys.reload_modules
        local:
            True
        ```
    """
    return True


def _state_names(ctx: Context, patterns: tuple[str, ...]) -> list[str]:
    """All states, or those whose name or module matches one of the patterns."""
    registry = known_to(ctx)
    names = [f"{one}.{fun}" for one in registry.names("states") for fun in registry.members("states", one)]
    return [
        name
        for name in names
        if not patterns
        or any(fnmatchcase(name, one) or fnmatchcase(name.partition(".")[0], one) for one in patterns)
    ]


def known_to(ctx: Context) -> Registry:
    """The registry of this run; the built-in one if it is not known."""
    functions = ctx.functions
    return functions.registry if isinstance(functions, Salt) else Registry()


@function
def list_state_modules(ctx: Context, /, *patterns: str) -> list[str]:
    """The modules with states, or those whose name matches.

    Args:
        patterns: patterns for their names.

    Example:
        ```console
        $ saltern call sys.list_state_modules 'time*'
        local:
            - timezone
        ```
    """
    names = known_to(ctx).names("states")
    return [name for name in names if not patterns or any(fnmatchcase(name, one) for one in patterns)]


@function
def list_state_functions(ctx: Context, /, *patterns: str, **_: object) -> list[str]:
    """The states, or those of a module, or those whose name matches.

    Args:
        patterns: modules, or patterns for names.

    Example:
        ```console
        $ saltern call sys.list_state_functions timezone
        local:
            - timezone.system
        ```
    """
    return _state_names(ctx, patterns)


@function
def state_doc(ctx: Context, /, *patterns: str) -> dict[str, str]:
    """The descriptions of states.

    Args:
        patterns: modules, or patterns for names.

    Example:
        ```console
        $ saltern call sys.state_doc timezone.system
        ```
    """
    found = ((name, known_to(ctx).state(*name.split(".", 1))) for name in _state_names(ctx, patterns))
    return {name: made.doc for name, made in found if made is not None}


@function
def state_argspec(ctx: Context, module: str = "") -> dict[str, dict[str, object]]:
    """The arguments of states.

    Args:
        module: a module, a state, or a pattern.

    Example:
        ```console
        $ saltern call sys.state_argspec timezone.system
        local:
            ----------
            timezone.system:
                ----------
                args:
                    - name
                    - utc
                defaults:
                    - True
                kwargs:
                    None
                varargs:
                    None
        ```
    """
    result: dict[str, dict[str, object]] = {}
    for name in _state_names(ctx, (module,) if module else ()):
        made = known_to(ctx).state(*name.split(".", 1))
        if made is None:
            continue
        takes = schema(made)
        last = sorted(takes.params.values(), key=lambda one: not one.required)
        result[name] = {
            "args": ["name", *(one.name for one in last)],
            "defaults": [one.default for one in last if not one.required] or None,
            "varargs": None,
            "kwargs": True if takes.open or takes.lenient else None,
        }
    return result


@function
def list_renderers(ctx: Context, /, *patterns: str) -> list[str]:
    """The renderers, or those whose name matches.

    Args:
        patterns: patterns for their names.

    Example:
        ```console
        $ saltern call sys.list_renderers 'j*'
        ```
    """
    from saltern.render.pipe import RENDERERS

    return sorted(
        name for name in RENDERERS if not patterns or any(fnmatchcase(name, one) for one in patterns)
    )


def _none(name: str, what: str) -> Function[..., list[str]]:
    def body(ctx: Context, /, *patterns: str) -> list[str]:
        return []

    body.__doc__ = make_docstring(
        f"The available {what}: none, since they belong to a Salt master.", f"sys.{name}"
    )
    return Function(body, name)


@function
def list_returners(ctx: Context, /, *patterns: str) -> list[str]:
    """The returners of the tree, from ``_returners``, or those whose name matches.

    Args:
        patterns: patterns for their names.

    Example:
        ```console
        $ saltern call sys.list_returners 'file_*'
        ```
    """
    names = known_to(ctx).names("returners")
    return [name for name in names if not patterns or any(fnmatchcase(name, one) for one in patterns)]


list_returner_functions = _none("list_returner_functions", "functions of returners")
list_runners = _none("list_runners", "runners")
list_runner_functions = _none("list_runner_functions", "functions of runners")
