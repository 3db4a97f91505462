"""Passwords in addresses: they work where they are used, and are shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
MASK = "***"

# A password may have an @, and by mistake a slash: then it is told from a port by not being a number.
PASSWORD = re.compile(r"(?<=://)([^\s/:@'\"]*):(?:[^\s/'\"]*(?=@)|(?!\d+(?:[/?#\s'\"]|$))[^\s'\"]*(?=@))")
TOKEN = re.compile(r"(?<=http://|ttps://)[^\s/:@'\"]+(?=@)")  # a name alone may be a token


def mask(value: T) -> T:
    """The same text, list or mapping with ``***`` for every password in an address."""
    return _masked(value)  # type: ignore[return-value]


def _masked(value: object) -> object:
    if isinstance(value, str):
        if "@" not in value or "://" not in value:
            return value
        return TOKEN.sub(MASK, PASSWORD.sub(rf"\1:{MASK}", value))
    if isinstance(value, Mapping):
        return {_masked(key): _masked(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_masked(one) for one in value)
    return value
