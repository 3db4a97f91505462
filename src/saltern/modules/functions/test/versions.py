"""``test``: versions, the configuration, and the available modules."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern import __version__
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function


@function
def version(ctx: Context) -> str:
    """The version of saltern.

    Example:
        ```console
        $ saltern call test.version
        ```
    """
    return __version__


@function
def versions_information(ctx: Context) -> dict[str, dict[str, str]]:
    """The versions of saltern and its dependencies.

    Example:
        ```console
        $ saltern call test.versions_information
        ```
    """
    import platform
    from importlib.metadata import version as of

    return {
        "Saltern Version": {"Saltern": version(ctx)},
        "Dependency Versions": {name: of(name) for name in ("jinja2", "pyyaml", "msgspec")}
        | {"Python": platform.python_version()},
        "System Versions": {"machine": platform.machine(), "release": platform.release()},
    }


@function
def versions_report(ctx: Context) -> str:
    """The versions of saltern and its dependencies, as text.

    Example:
        ```console
        $ saltern call test.versions_report
        ```
    """
    parts = []
    for title, rows in versions_information(ctx).items():
        parts += [f"{title}:", *(f"{name:>14}: {value}" for name, value in rows.items()), ""]
    return "\n".join(parts)


@function
def versions(ctx: Context) -> str:
    """The same as ``test.versions_report``.

    Example:
        ```console
        $ saltern call test.versions
        ```
    """
    return versions_report(ctx)


@function
def get_opts(ctx: Context) -> dict[str, object]:
    """The configuration.

    Example:
        ```console
        $ saltern call test.get_opts
        ```
    """
    return dict(ctx.opts)


@function
def opts_pkg(ctx: Context) -> dict[str, object]:
    """The configuration, with the grains.

    Example:
        ```console
        $ saltern call test.opts_pkg
        ```
    """
    return {**ctx.opts, "grains": ctx.grains}


@function
def conf_test(ctx: Context) -> object:
    """The value of the option ``test.foo``.

    Example:
        ```console
        $ saltern call test.conf_test
        ```
    """
    return ctx.opts.get("test.foo", "unconfigured")


@function
def not_loaded(ctx: Context) -> list[str]:
    """Modules that could not be loaded: none.

    Example:
        ```console
        $ saltern call test.not_loaded
        local:
        ```
    """
    return []


@function
def module_report(ctx: Context) -> dict[str, list[str]]:
    """The available functions and modules.

    Example:
        ```console
        $ saltern call test.module_report
        ```
    """
    from saltern.modules.functions.sys import list_functions, list_modules

    return {"functions": list_functions(ctx), "modules": list_modules(ctx), "missing_attrs": []}
