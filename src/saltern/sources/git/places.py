"""The places of remotes in the configuration, for problems with a remote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark

Option = tuple[str | int, ...]  # keys, and indices in lists
Place = Callable[[Option, str], Mark | None]  # from an option, and its text in the file


def nowhere(_option: Option, _written: str) -> Mark | None:
    """No place, without a configuration."""
    return None


@contextmanager
def located_at(place: Place, option: Option, written: str) -> Iterator[None]:
    """Add the place of an option to problems that are raised in the block without a place."""
    try:
        yield
    except OperationError as problem:
        raise OperationError(*(_at(one, place, option, written) for one in problem.diagnostics)) from None


def _at(one: Diagnostic, place: Place, option: Option, written: str) -> Diagnostic:
    return one if one.where or not option else replace(one, where=place(option, written))
