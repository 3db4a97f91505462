"""What a value of a roster must be: one reader for each type, with words for what is expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

TRUE = frozenset(("true", "yes", "on", "1", "y", "t"))
FALSE = frozenset(("false", "no", "off", "0", "n", "f", ""))
MOST_PORT = 65_535


class BadValue(Exception):
    """The value is not what the key needs; the text says what is expected."""


def text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadValue("a text")
    return str(value)


def port(value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        raise BadValue(f"a number from 1 to {MOST_PORT}") from None
    if isinstance(value, bool) or not 0 < number <= MOST_PORT:
        raise BadValue(f"a number from 1 to {MOST_PORT}")
    return number


def seconds(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise BadValue("a number of seconds") from None
    if isinstance(value, bool) or not 0 <= number < 1e9:
        raise BadValue("a number of seconds")
    return number


def truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in TRUE | FALSE:
        raise BadValue("true or false")
    return word in TRUE


def mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadValue("a mapping")
    return {str(key): one for key, one in value.items()}


def texts(value: object) -> tuple[str, ...]:
    """A list of texts, or one."""
    return tuple(map(text, value)) if isinstance(value, list) else (text(value),)


class Key(Struct, frozen=True):
    """One key of a roster: how its value is read, and where it goes. Without a field it is ignored."""

    field: str = ""
    read: Callable[[object], Any] = text
    why: str = ""
