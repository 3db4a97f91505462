"""Filters that treat lists as sets, and simple statistics.

The order of the first list is kept, and the result is a list, even for text and tuples, where
Salt returns a set: a set prints in a different order on each run.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any


def unique(values: Iterable[object]) -> list[object]:
    """Each member once, at its first position."""
    try:
        return list(dict.fromkeys(_members(values)))
    except TypeError:  # members that cannot be hashed, such as mappings
        kept: list[object] = []
        for value in _members(values):
            if value not in kept:
                kept.append(value)
        return kept


def union(lst1: Iterable[object], lst2: Iterable[object]) -> list[object]:
    return unique([*_members(lst1), *_members(lst2)])


def intersect(lst1: Iterable[object], lst2: Iterable[object]) -> list[object]:
    return [value for value in unique(lst1) if value in _members(lst2)]


def difference(lst1: Iterable[object], lst2: Iterable[object]) -> list[object]:
    return [value for value in unique(lst1) if value not in _members(lst2)]


def symmetric_difference(lst1: Iterable[object], lst2: Iterable[object]) -> list[object]:
    return [*difference(lst1, lst2), *difference(lst2, lst1)]


def smallest(obj: Iterable[Any]) -> Any:
    return builtins.min(_some(obj))


def largest(obj: Iterable[Any]) -> Any:
    return builtins.max(_some(obj))


def avg(lst: Any) -> float:
    """The mean of a list of numbers; a single number is its own mean."""
    if not isinstance(lst, list | tuple):
        return float(lst)
    return float(sum(_some(lst)) / len(lst))


def sequence(data: object) -> object:
    """``data`` if it is a list, tuple, set or mapping, else a list that contains it."""
    return data if isinstance(data, list | tuple | set | dict) else [data]


def _members(values: object) -> list[object]:
    if not isinstance(values, Iterable):
        raise TypeError(f"needs a list, not {type(values).__name__}")
    return values if isinstance(values, list) else list(values)


def _some(values: object) -> list[Any]:
    members = _members(values)
    if not members:
        raise ValueError("the list is empty")
    return members
