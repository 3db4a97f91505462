"""Parse the value of an extension: text in OpenSSL's syntax, a list or a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused

CRITICAL = "critical"
BEGINS_CRITICAL = re.compile(r"\s*critical\b[\s,]*")


class Given(Struct, frozen=True, kw_only=True):
    """A wanted extension, and the keys and certificates that it may refer to."""

    name: str
    value: object
    public_key: Any = None
    signer: Any = None  # the signer's certificate, or None
    signer_key: Any = None  # its public key


def items(given: Given) -> tuple[bool, list[tuple[str, object]]]:
    """Whether it is critical, and its parts: ``CA:TRUE, pathlen:1`` as pairs. A bare word has the value
    True.
    """
    value = given.value
    if isinstance(value, str):
        critical, text = _uncritical(value)
        return critical, [_pair(item) for item in text.split(",") if item.strip()]
    if isinstance(value, Mapping):
        return bool(value.get(CRITICAL)), [(str(k), v) for k, v in value.items() if k != CRITICAL]
    if isinstance(value, list | tuple):
        pairs = [pair for one in value for pair in _of_list(one)]
        return any(_is_critical(*pair) for pair in pairs), [pair for pair in pairs if pair[0] != CRITICAL]
    return False, [(str(value), True)]


def _is_critical(word: str, value: object) -> bool:
    return word == CRITICAL and bool(value)


def _of_list(one: object) -> list[tuple[str, object]]:
    if isinstance(one, Mapping):
        return [(str(key), value) for key, value in one.items()]
    return [_pair(str(one))]


def _pair(item: str) -> tuple[str, object]:
    key, colon, value = item.partition(":")
    return key.strip(), value.strip() if colon else True


def _uncritical(text: str) -> tuple[bool, str]:
    found = BEGINS_CRITICAL.match(text)
    return (True, text[found.end() :]) if found else (False, text)


def words(given: Given) -> tuple[bool, list[str]]:
    """The words of an extension that is a set; blanks and commas separate them."""
    value = given.value
    if isinstance(value, str):
        critical, text = _uncritical(value)
        return critical, [word for word in re.split(r"[\s,]+", text) if word]
    if isinstance(value, list | tuple):
        each = [words(Given(name=given.name, value=one)) for one in value]
        return any(critical for critical, _ in each), [word for _, found in each for word in found]
    critical, pairs = items(given)
    return critical, [word for word, on in pairs if on]


def mapping(given: Given) -> tuple[bool, dict[str, object]]:
    """The named parts of an extension; case is ignored in names."""
    critical, pairs = items(given)
    return critical, {key.lower(): value for key, value in pairs}


def number(given: Given, value: object) -> int:
    if isinstance(value, bool) or not str(value).strip().isdecimal():
        raise Refused(f"{given.name} needs a number, got {value!r}")
    return int(str(value))


def flag(value: object) -> bool:
    return value is True or str(value).strip().lower() in ("true", "yes", "1")


def as_list(value: object) -> list[Any]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
