"""Nested data for functions: copies for templates, and lookups by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from saltern.language.merge import CannotMerge, deep, merge
from saltern.language.ordered import like
from saltern.modules.api.params import BadArgument


def fresh(value: object) -> object:
    """A deep copy: a template may change its data."""
    if isinstance(value, Mapping):
        return like(value, {key: fresh(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return [fresh(inner) for inner in value]
    return value


def merge_data(base: object, over: object, *, strategy: str = "smart", merge_lists: bool = False) -> object:
    """``language.merge`` for templates: a deep copy, and problems are errors of the caller."""
    try:
        return fresh(merge(base, over, strategy=strategy, merge_lists=merge_lists))
    except CannotMerge as problem:
        raise BadArgument(str(problem)) from None


def choose(table: Mapping[str, object], value: object, default: str) -> object:
    """The entry of ``table`` whose key equals, or as a glob matches, ``value`` (or one of a list)."""
    for one in value if isinstance(value, list | tuple) else (value,):
        if one in table:
            return table[one]
        for key, entry in table.items():
            if isinstance(key, str) and isinstance(one, str) and fnmatchcase(one, key):
                return entry
    return table.get(default)


def laid_over(
    found: object, *, merge: object = None, base: str | None = None, table: Mapping[str, object]
) -> object:
    """``filter_by``'s last steps: ``found`` over the entry ``base`` of the table, ``merge`` over both."""
    if base and isinstance(table.get(base), Mapping):
        found = deep(_mapping(table[base], "base"), _mapping(found or {}, "the entry"), False)
    if merge:
        found = deep(_mapping(found or {}, "the entry"), _mapping(merge, "merge"), False)
    return fresh(found)


def _mapping(value: object, what: str) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        raise BadArgument(f"filter_by can only merge mappings, and {what} is {value!r:.60}")
    return value


def each(items: object) -> Iterable[object]:
    """A list unchanged, any other value as a list of one."""
    if isinstance(items, Iterable) and not isinstance(items, str | bytes | Mapping):
        return items
    return [items]
