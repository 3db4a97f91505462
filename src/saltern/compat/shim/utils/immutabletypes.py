"""``salt.utils.immutabletypes``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

ImmutableDict = MappingProxyType
ImmutableList = tuple[Any, ...]
ImmutableSet = frozenset


def freeze(obj: Any) -> Any:
    if isinstance(obj, Mapping):
        return MappingProxyType({key: freeze(value) for key, value in obj.items()})
    if isinstance(obj, list | tuple):
        return tuple(map(freeze, obj))
    return frozenset(obj) if isinstance(obj, set) else obj
