"""``test``: functions that prove that calls arrive, and with what."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import builtins
from collections.abc import Callable

from saltern import __version__
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument


@function
def echo(ctx: Context, text: object = "") -> object:
    """Give back what was given.

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
    """Say that we are here.

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
    """Always true.

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
    """Always false.

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
    """Give back what was given, to see how it is printed.

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
    """What arrived.

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
    """What arrived, without what the engine has added.

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
    """The types of what arrived.

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
    """What arrived, as Python writes it.

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
    """The keyword arguments that arrived.

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
def fib(ctx: Context, num: int) -> tuple[int, float]:
    """The Fibonacci number at this place, and the seconds it took.

    Example:
        ```console
        $ saltern call test.fib 10
        ```
    """
    begun = ctx.clock.tick()
    current, following = 0, 1
    for _ in range(int(num)):
        current, following = following, current + following
    return current, ctx.clock.tick() - begun


@function
def collatz(ctx: Context, start: int) -> tuple[list[int], float]:
    """The Collatz steps from a number down to 1, and the seconds they took.

    Example:
        ```console
        $ saltern call test.collatz 3
        ```
    """
    begun, steps, at = ctx.clock.tick(), [], int(start)
    if at < 1:
        raise BadArgument(f"test.collatz needs a number from 1 on, got {start!r}")
    while at != 1:
        steps.append(at)
        at = 3 * at + 1 if at % 2 else at // 2
    return steps, ctx.clock.tick() - begun


@function
def sleep(ctx: Context, length: float) -> bool:
    """Wait so many seconds.

    Example:
        ```console
        $ saltern call test.sleep 0
        local:
            True
        ```
    """
    ctx.clock.sleep(float(length))
    return True


@function
def rand_sleep(ctx: Context, max: int = 60) -> bool:
    """Wait for up to so many seconds.

    Example:
        ```console
        $ saltern call test.rand_sleep 0
        local:
            True
        ```
    """
    from random import random

    ctx.clock.sleep(random() * float(max))
    return True


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
    """The versions of saltern and of what it stands on.

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
    """The versions of saltern and of what it stands on, as text.

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
    """Call a function; what it raises is no error.

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


@function
def exception(ctx: Context, message: str = "Test Exception") -> None:
    """Raise an error.

    Example:
        ```console
        $ saltern call test.try test.exception return_try_exception=true
        ```
    """
    raise Exception(message)


@function
def raise_exception(ctx: Context, /, name: str, *args: object, **kwargs: object) -> None:
    """Raise an error of one of Python's own kinds.

    Example:
        ```console
        $ saltern call test.try test.raise_exception return_try_exception=true
        ```
    """
    kind = getattr(builtins, name.removeprefix("exceptions."), None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise BadArgument(f"Python has no exception called {name!r}")
    raise kind(*args, **kwargs)


@function
def assertion(ctx: Context, assertion: object) -> None:
    """Raise an error unless this is true.

    Example:
        ```console
        $ saltern call test.assertion true
        local:
            None
        ```
    """
    if not assertion:
        raise AssertionError


@function
def retcode(ctx: Context, code: int = 42) -> bool:
    """Leave an exit code behind, which a guard sees.

    Example:
        ```console
        $ saltern call test.retcode 0
        local:
            True
        ```
    """
    ctx.run.context["retcode"] = int(code)
    return True


@function
def rand_str(ctx: Context, size: int = 999999999, hash_type: str | None = None) -> str:
    """The digest of a random number up to ``size``.

    Example:
        ```console
        $ saltern call test.rand_str 1000 hash_type=md5
        ```
    """
    from random import SystemRandom

    return _digest(ctx, str(SystemRandom().randint(0, int(size))), hash_type)


@function
def random_hash(ctx: Context, size: int = 9999999999, hash_type: str | None = None) -> str:
    """The same as ``test.rand_str``.

    Example:
        ```console
        $ saltern call test.random_hash 1000 hash_type=md5
        ```
    """
    return rand_str(ctx, size, hash_type)


def _digest(ctx: Context, text: str, hash_type: str | None) -> str:
    import hashlib

    name = hash_type or str(ctx.opts.get("hash_type") or "sha256")
    try:
        return hashlib.new(name, text.encode()).hexdigest()
    except ValueError:
        raise BadArgument(f"no digest is called {name!r}") from None


@function
def stack(ctx: Context) -> str:
    """Where this was called from.

    Example:
        ```console
        $ saltern call test.stack
        ```
    """
    import traceback

    return "".join(traceback.format_stack())


@function
def not_loaded(ctx: Context) -> list[str]:
    """Modules that are there and could not be loaded: none.

    Example:
        ```console
        $ saltern call test.not_loaded
        local:
        ```
    """
    return []


@function
def provider(ctx: Context, module: str) -> str:
    """The file that provides a module.

    Example:
        ```console
        $ saltern call test.provider hosts
        ```
    """
    from importlib.util import find_spec

    return module if find_spec(f"saltern.modules.functions.{module}") else ""


@function
def module_report(ctx: Context) -> dict[str, list[str]]:
    """What functions and modules there are.

    Example:
        ```console
        $ saltern call test.module_report
        ```
    """
    from saltern.modules.functions.sys import list_functions, list_modules

    return {"functions": list_functions(ctx), "modules": list_modules(ctx), "missing_attrs": []}
