"""Passwords in addresses: they work in files, and are not for anybody's eyes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
# Up to the last @ before the path: a password may have one, too.
SECRET = re.compile(r"(\w://[^\s/:@]*):[^\s/]+@")


def masked(value: T) -> T:
    """The same text, list or mapping with ``user:***@host`` for every password in a URL."""
    return _masked(value)  # type: ignore[return-value]


def _masked(value: object) -> object:
    if isinstance(value, str):
        return SECRET.sub(r"\1:***@", value)
    if isinstance(value, Mapping):
        return {_masked(key): _masked(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_masked(one) for one in value)
    return value
