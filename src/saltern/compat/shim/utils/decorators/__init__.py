"""``salt.utils.decorators``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

Fun = Callable[..., Any]


class Depends:
    """Leaves a function out whose module lacks one of these names; see ``loader``."""

    def __init__(self, *dependencies: Any, **kwargs: Any) -> None:
        by_command = "retcode" in kwargs or "nonzero_retcode" in kwargs
        self.dependencies = () if by_command else tuple(one for one in dependencies if isinstance(one, str))

    def __call__(self, function: Fun) -> Fun:
        before = getattr(function, "__saltern_depends__", ())
        function.__saltern_depends__ = (*before, *self.dependencies)  # type: ignore[attr-defined]
        return function


depends = Depends


def memoize(func: Fun) -> Fun:
    cache: dict[Any, Any] = {}

    @wraps(func)
    def remembered(*args: Any, **kwargs: Any) -> Any:
        key = (tuple(map(str, args)), tuple(sorted((name, str(value)) for name, value in kwargs.items())))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return remembered


def timing(function: Fun) -> Fun:
    return function


def ensure_unicode_args(function: Fun) -> Fun:
    return function


def which(exe: str) -> Callable[[Fun], Fun]:
    from saltern.compat.shim.utils.decorators.path import which as by_path

    return by_path(exe)
