"""``salt.utils.decorators.path``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from saltern.compat.shim import exceptions
from saltern.compat.shim.utils.path import which_bin as find

Fun = Callable[..., Any]


def which_bin(exes: Iterable[str]) -> Callable[[Fun], Fun]:
    """Make a function available only if one of these programs is installed."""
    wanted = list(exes)

    def mark(function: Fun) -> Fun:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if find(wanted) is None:
                message = f"none of {', '.join(wanted)} was found"
                raise exceptions.CommandNotFoundError(message)  # type: ignore[attr-defined]
            return function(*args, **kwargs)

        return call

    return mark


def which(exe: str) -> Callable[[Fun], Fun]:
    return which_bin([exe])
