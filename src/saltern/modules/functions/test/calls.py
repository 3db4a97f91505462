"""``test``: functions that show how calls arrive."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument


@function
def echo(ctx: Context, text: object) -> object:
    """Return the given text.

    Example:
        ```console
        $ saltern call test.echo 'hello world'
        local:
            hello world
        ```
    """
    return text


@function
def ping(ctx: Context) -> bool:
    """Return true: the machine responds.

    Example:
        ```console
        $ saltern call test.ping
        local:
            True
        ```
    """
    return True


@function(name="true")
def true_(ctx: Context) -> bool:
    """Return true.

    Example:
        ```console
        $ saltern call test.true
        local:
            True
        ```
    """
    return True


@function(name="false")
def false_(ctx: Context) -> bool:
    """Return false.

    Example:
        ```console
        $ saltern call test.false
        local:
            False
        ```
    """
    return False


@function
def outputter(ctx: Context, data: object) -> object:
    """Return the given data, to see how it is printed.

    Example:
        ```console
        $ saltern call test.outputter '{port: 8080}'
        local:
            ----------
            port:
                8080
        ```
    """
    return data


@function
def arg(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, object]:
    """The arguments as they arrived.

    Example:
        ```console
        $ saltern call test.arg 1 two colour=blue
        local:
            ----------
            args:
                - 1
                - two
            kwargs:
                ----------
                colour:
                    blue
        ```
    """
    return {"args": list(args), "kwargs": kwargs}


@function
def arg_clean(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, object]:
    """The arguments as they arrived, without those added by the engine.

    Example:
        ```console
        $ saltern call test.arg_clean 1 two colour=blue
        local:
            ----------
            args:
                - 1
                - two
            kwargs:
                ----------
                colour:
                    blue
        ```
    """
    return {"args": list(args), "kwargs": {k: v for k, v in kwargs.items() if not k.startswith("__")}}


@function
def arg_type(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, object]:
    """The types of the arguments.

    Example:
        ```console
        $ saltern call test.arg_type 1 two colour=blue
        local:
            ----------
            args:
                - <class 'int'>
                - <class 'str'>
            kwargs:
                ----------
                colour:
                    <class 'str'>
        ```
    """
    return {
        "args": [str(type(value)) for value in args],
        "kwargs": {key: str(type(value)) for key, value in kwargs.items()},
    }


@function
def arg_repr(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, str]:
    """The arguments in Python's notation.

    Example:
        ```console
        $ saltern call test.arg_repr 1 two colour=blue
        local:
            ----------
            args:
                (1, 'two')
            kwargs:
                {'colour': 'blue'}
        ```
    """
    return {"args": repr(args), "kwargs": repr(kwargs)}


@function
def kwarg(ctx: Context, /, **kwargs: object) -> dict[str, object]:
    """The keyword arguments as they arrived.

    Example:
        ```console
        $ saltern call test.kwarg colour=blue size=3
        local:
            ----------
            colour:
                blue
            size:
                3
        ```
    """
    return kwargs


@function
def cross_test(ctx: Context, /, func: str, args: object = None) -> object:
    """Call another function.

    Example:
        ```console
        $ saltern call test.cross_test test.echo args='[hello]'
        local:
            hello
        ```
    """
    given = args if isinstance(args, list | tuple) else [] if args is None else [args]
    return _function(ctx, func)(*given)


@function(name="try")
def try_(
    ctx: Context,
    /,
    module: str,
    return_try_exception: bool = False,
    **kwargs: object,
) -> object:
    """Call a function; an exception is not an error.

    Example:
        ```console
        $ saltern call test.try test.ping
        local:
            True
        ```
    """
    try:
        return _function(ctx, module)(**kwargs)
    except Exception as problem:
        return problem if return_try_exception else ""


def _function(ctx: Context, name: str) -> Callable[..., object]:
    if name not in ctx.functions:
        raise BadArgument(f"no function is called {name!r}")
    return ctx.functions[name]
