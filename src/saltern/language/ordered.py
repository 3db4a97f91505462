"""Mappings from a YAML renderer: their keys keep their order when a template writes them.

Salt's filter ``yaml`` sorts the keys of all mappings except those of pillar, of the arguments of states, and
of the result of ``slsutil.renderer``. Those of literals in templates, of the configuration and of
``import_yaml`` are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class Ordered(dict[object, object]):
    """A plain mapping, except that serializers keep the order of its keys."""

    __slots__ = ()

    def copy(self) -> Ordered:
        return Ordered(self)

    __copy__ = copy

    def __or__(self, other: object) -> Ordered:
        return Ordered({**self, **other}) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: object) -> Ordered:
        return Ordered({**other, **self}) if isinstance(other, Mapping) else NotImplemented


def order_mappings(value: V) -> V:
    """A copy in which every mapping, at any depth, is ``Ordered``."""
    return cast("V", _order(value))


def _order(value: object) -> object:
    if isinstance(value, Mapping):
        return Ordered((key, _order(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return [_order(inner) for inner in value]
    return value


def plain_mappings(value: object) -> object:
    """A copy with plain mappings."""
    if isinstance(value, Mapping):
        return {key: plain_mappings(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_mappings(inner) for inner in value]
    return value


def like(pattern: object, pairs: dict[K, V]) -> dict[K, V]:
    """``pairs`` as a mapping of the kind of ``pattern``."""
    return (
        cast("dict[K, V]", Ordered(cast("dict[object, object]", pairs)))
        if isinstance(pattern, Ordered)
        else pairs
    )
