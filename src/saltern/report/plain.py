"""Turns any value of a module into plain data that every format can write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

Above = tuple[int, ...]  # the enclosing containers, to detect loops
DEEPEST = 200  # deeper data is cut off
SCALARS = frozenset({str, int, float, bool, type(None)})
CONTAINERS = frozenset({dict, list, tuple})
TEXT = frozenset({str})
WORDS = {None: "null", True: "true", False: "false"}  # keys in the spelling of json


def is_plain(value: object) -> bool:
    """True if msgspec writes the value as required. Only for values without loops."""
    if type(value) in SCALARS:
        return True
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is dict:
            if set(map(type, item)) - TEXT:
                return False
            item = item.values()
        elif type(item) not in CONTAINERS:
            return False
        if inner := set(map(type, item)) - SCALARS:
            if inner - CONTAINERS:
                return False
            waiting += [each for each in item if each and type(each) in CONTAINERS]
    return True


def plain(value: object, above: Above = ()) -> object:
    """A copy that consists of dict, list, str, int, float, bool and None; other types become text."""
    if type(value) in SCALARS:
        return value
    if id(value) in above or len(above) > DEEPEST:
        return "…"
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value, (*above, id(value)))
    return _text(value)


def key_text(key: object) -> str:
    """A key as JSON needs it: a string."""
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return WORDS[key]
    return _bytes(key, ()) if isinstance(key, bytes) else _text(key)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a failure of foreign code in __str__ must not make a report fail
        return f"<{type(value).__name__}>"


def _mapping(value: Mapping[object, object], above: Above) -> object:
    return {key_text(key): plain(item, above) for key, item in value.items()}


def _items(value: list[object], above: Above) -> object:
    return [plain(item, above) for item in value]


def _sort_set(value: set[object], above: Above) -> object:
    return sorted((plain(item, above) for item in value), key=lambda item: (str(type(item)), _text(item)))


def _bytes(value: bytes, _above: Above) -> str:
    return bytes(value).decode("utf-8", "backslashreplace")


def _struct(value: Struct, above: Above) -> object:
    return {name: plain(getattr(value, name), above) for name in value.__struct_fields__}


_CONVERSIONS: tuple[tuple[Any, Callable[[Any, Above], object]], ...] = (
    (Enum, lambda value, above: plain(value.value, above)),
    (Mapping, _mapping),
    ((list, tuple, range), _items),
    ((set, frozenset), _sort_set),
    ((bytes, bytearray, memoryview), _bytes),
    (str, lambda value, _: str.__str__(value)),
    (bool, lambda value, _: bool(value)),
    (int, lambda value, _: int(value)),
    (float, lambda value, _: float(value)),
    (Struct, _struct),
)
