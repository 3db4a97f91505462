"""``salt.utils.decorators``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from saltern.compat.shim.exceptions import SaltInvocationError

Fun = Callable[..., Any]


class Depends:
    """Leaves out a function if a dependency is missing; ``loader`` checks that once the module has run.

    A text is a name that the module must have; with ``retcode`` or ``nonzero_retcode`` it is a command, whose
    exit code decides. Anything else is a condition. ``fallback_function`` is used instead.
    """

    def __init__(
        self,
        *dependencies: Any,
        fallback_function: Fun | None = None,
        retcode: int | None = None,
        nonzero_retcode: bool | None = None,
        **_: Any,
    ) -> None:
        self.dependencies = dependencies
        self.fallback = fallback_function
        self.retcode = retcode
        self.nonzero = nonzero_retcode

    def __call__(self, function: Fun) -> Fun:
        before = getattr(function, "__saltern_depends__", ())
        function.__saltern_depends__ = (*before, self)  # type: ignore[attr-defined]
        return function

    def met(self, known: dict[str, Any]) -> bool:
        return all(self._met(one, known) for one in self.dependencies)

    def _met(self, one: Any, known: dict[str, Any]) -> bool:
        if not isinstance(one, str):
            return bool(one)
        if self.retcode is None and self.nonzero is None:
            return bool(known.get(one))
        ended = _run(one)
        return ended == self.retcode if self.retcode is not None else bool(ended) is self.nonzero


def _run(command: str) -> int:
    from shlex import split
    from subprocess import DEVNULL, run

    try:
        return run(split(command), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False).returncode
    except OSError:
        return 127


depends = Depends


def memoize(func: Fun) -> Fun:
    cache: dict[Any, Any] = {}

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        key = (tuple(map(str, args)), tuple(sorted((name, str(value)) for name, value in kwargs.items())))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return call


def ignores_kwargs(*names: str) -> Callable[[Fun], Fun]:
    """Drop these arguments of a function."""

    def mark(function: Fun) -> Fun:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **{key: value for key, value in kwargs.items() if key not in names})

        return call

    return mark


def allow_one_of(*names: str) -> Callable[[Fun], Fun]:
    """Allow at most one of these arguments."""
    return _limit_count(names, fewest=0, message="only one of {} may be given")


def require_one_of(*names: str) -> Callable[[Fun], Fun]:
    """Require exactly one of these arguments."""
    return _limit_count(names, fewest=1, message="exactly one of {} must be given")


def _limit_count(names: tuple[str, ...], *, fewest: int, message: str) -> Callable[[Fun], Fun]:
    def mark(function: Fun) -> Fun:
        from inspect import signature

        known = signature(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = known.bind_partial(*args, **kwargs).arguments
            if not fewest <= sum(1 for name in names if given.get(name)) <= 1:
                raise SaltInvocationError(message.format(", ".join(names)))
            return function(*args, **kwargs)

        return call

    return mark


def timing(function: Fun) -> Fun:
    return function


def ensure_unicode_args(function: Fun) -> Fun:
    return function


def which(exe: str) -> Callable[[Fun], Fun]:
    from saltern.compat.shim.utils.decorators.path import which as by_path

    return by_path(exe)
