"""Where the configuration names a remote: problems with the remote lead there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark

Option = tuple[str | int, ...]  # keys, and places in lists
Place = Callable[[Option, str], Mark | None]  # of an option, and how it is written there


def nowhere(_option: Option, _written: str) -> Mark | None:
    """There is no configuration."""
    return None


@contextmanager
def placed(place: Place, option: Option, written: str) -> Iterator[None]:
    """What is raised within has the place of an option, unless it has another one."""
    try:
        yield
    except OperationError as problem:
        raise OperationError(*(_at(one, place, option, written) for one in problem.diagnostics)) from None


def _at(one: Diagnostic, place: Place, option: Option, written: str) -> Diagnostic:
    return one if one.where or not option else replace(one, where=place(option, written))
