"""``test``: functions that take time, fail, or return random values."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import builtins

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument


@function
def fib(ctx: Context, num: int) -> tuple[int, float]:
    """The Fibonacci number at this index, and the seconds it took.

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
        raise BadArgument(f"test.collatz needs a number of at least 1, got {start!r}")
    while at != 1:
        steps.append(at)
        at = 3 * at + 1 if at % 2 else at // 2
    return steps, ctx.clock.tick() - begun


@function
def sleep(ctx: Context, length: float) -> bool:
    """Wait this many seconds.

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
    """Wait up to this many seconds.

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
    """Raise one of Python's built-in exceptions.

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
    """Set an exit code, which conditions can read.

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
    """The stack of this call.

    Example:
        ```console
        $ saltern call test.stack
        ```
    """
    import traceback

    return "".join(traceback.format_stack())
