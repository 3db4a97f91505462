"""Where the configuration names a remote: problems with the remote point to that line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark

Option = tuple[str | int, ...]  # keys, and indices in lists
Place = Callable[[Option, str], Mark | None]  # from an option, and its text in the file


def nowhere(_option: Option, _written: str) -> Mark | None:
    """No place: there is no configuration."""
    return None


@contextmanager
def located_at(place: Place, option: Option, written: str) -> Iterator[None]:
    """Add the place of an option to the problems raised within that have none."""
    try:
        yield
    except OperationError as problem:
        raise OperationError(*(_at(one, place, option, written) for one in problem.diagnostics)) from None


def _at(one: Diagnostic, place: Place, option: Option, written: str) -> Diagnostic:
    return one if one.where or not option else replace(one, where=place(option, written))
