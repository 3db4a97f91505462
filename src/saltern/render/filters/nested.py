"""Filters that change a mapping at a path such as ``a:b:c``.

As in Salt, they change and return the given mapping. ``ordered_dict`` is Salt's; every
mapping is ordered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeVar

T = TypeVar("T")
Nested = MutableMapping[object, object]


def set_dict_key_value(
    in_dict: Nested,
    keys: str,
    value: object,
    delimiter: str = ":",
    ordered_dict: bool = False,  # noqa: ARG001
) -> Nested:
    """Set ``value`` at the path; missing parts, and parts that are not mappings, become mappings."""
    return _at(in_dict, keys, delimiter, lambda _old: value)


def update_dict_key_value(
    in_dict: Nested,
    keys: str,
    value: Any,
    delimiter: str = ":",
    ordered_dict: bool = False,  # noqa: ARG001
) -> Nested:
    """Update the mapping at the path with the keys of ``value``."""

    def update(old: Any) -> Any:
        _expect(old, dict, "a mapping")
        if not isinstance(value, Mapping):
            raise TypeError(f"a mapping at {keys!r} cannot be updated with {_kind(value)}")
        return _change({} if old is None else old, lambda target: target.update(value))

    return _at(in_dict, keys, delimiter, update)


def append_dict_key_value(
    in_dict: Nested,
    keys: str,
    value: Any,
    delimiter: str = ":",
    ordered_dict: bool = False,  # noqa: ARG001
) -> Nested:
    """Append ``value`` to the list at the path."""

    def append(old: Any) -> Any:
        _expect(old, list, "a list")
        return _change([] if old is None else old, lambda target: target.append(value))

    return _at(in_dict, keys, delimiter, append)


def extend_dict_key_value(
    in_dict: Nested,
    keys: str,
    value: Any,
    delimiter: str = ":",
    ordered_dict: bool = False,  # noqa: ARG001
) -> Nested:
    """Append each member of ``value`` to the list at the path."""

    def extend(old: Any) -> Any:
        _expect(old, list, "a list")
        if not isinstance(value, Iterable):
            raise TypeError(f"the list at {keys!r} cannot be extended with {_kind(value)}")
        return _change([] if old is None else old, lambda target: target.extend(value))

    return _at(in_dict, keys, delimiter, extend)


def _at(data: Nested, keys: str, delimiter: str, change: Callable[[object], object]) -> Nested:
    if not isinstance(keys, str):
        raise TypeError(f"the path must be text such as 'a{delimiter}b', not {_kind(keys)}")
    *way, last = keys.split(delimiter)
    place = data
    for step in way:
        inner = place.get(step)
        if not isinstance(inner, MutableMapping):
            inner = place[step] = {}
        place = inner
    place[last] = change(place.get(last))
    return data


def _change(target: T, change: Callable[[T], object]) -> T:
    change(target)
    return target


def _expect(old: object, kind: type, wanted: str) -> None:
    if old is not None and not isinstance(old, kind):
        raise TypeError(f"there is {_kind(old)} at the end of the path, not {wanted}")


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"
