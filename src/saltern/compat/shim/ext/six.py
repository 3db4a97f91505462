"""``salt.ext.six``: the parts that old modules still use, on Python 3."""

from __future__ import annotations

import builtins
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from io import BytesIO, StringIO
from typing import Any

PY2, PY3 = False, True
string_types = (str,)
text_type = str
binary_type = bytes
integer_types = (int,)
class_types = (type,)
StringIO = StringIO
BytesIO = BytesIO


def iteritems(data: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    return iter(data.items())


def iterkeys(data: Mapping[Any, Any]) -> Iterator[Any]:
    return iter(data)


def itervalues(data: Mapping[Any, Any]) -> Iterator[Any]:
    return iter(data.values())


def viewitems(data: Mapping[Any, Any]) -> ItemsView[Any, Any]:
    return data.items()


def viewkeys(data: Mapping[Any, Any]) -> KeysView[Any]:
    return data.keys()


def viewvalues(data: Mapping[Any, Any]) -> ValuesView[Any]:
    return data.values()


def reraise(_kind: object, value: BaseException, trace: Any = None) -> None:
    raise value.with_traceback(trace)


def ensure_str(value: str | bytes, encoding: str = "utf-8") -> str:
    return value.decode(encoding) if isinstance(value, bytes) else value


class _Moves:
    """``six.moves``."""

    range = xrange = range
    zip = zip
    map = map
    filter = filter
    input = input
    builtins = builtins
    StringIO = StringIO
    cStringIO = StringIO


moves = _Moves()
