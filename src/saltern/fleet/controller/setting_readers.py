"""Readers for values of ``controller.yaml``; each raises ``ValueError`` for an invalid value."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from saltern.fleet.reactor.rules import Rule, read_map

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
ALL = "*"  # all environments


def text(value: object) -> str:
    if isinstance(value, str) and value.strip() and "\n" not in value:
        return value.strip()
    raise ValueError


def word(value: object) -> str:
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    raise ValueError


def number(least: int, most: int) -> Callable[[object], int]:
    def reader(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise ValueError

    return reader


def amount(least: float, most: float) -> Callable[[object], float]:
    def reader(value: object) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        raise ValueError

    return reader


def names(value: object) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    if not several or not all(isinstance(one, str) and re.fullmatch(r"[\w.:%-]+", one) for one in several):
        raise ValueError
    return tuple(several)


def paths(value: object) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise ValueError
    return tuple(text(one) for one in several)


def bus(value: object) -> str:
    for one in text(value).split(","):
        if urlsplit(one.strip()).scheme not in ("nats", "tls") or not urlsplit(one.strip()).hostname:
            raise ValueError
    return text(value)


def database(value: object) -> str:
    if urlsplit(text(value)).scheme in ("sqlite", "postgresql", "postgres"):
        return text(value)
    raise ValueError


def roots(value: object) -> dict[str, list[str]]:
    if isinstance(value, str | list):
        value = {"base": value}
    if not isinstance(value, dict):
        raise ValueError
    roots = {str(name): [where] if isinstance(where, str) else where for name, where in value.items()}
    for several in roots.values():
        if not isinstance(several, list) or not all(isinstance(one, str) and one for one in several):
            raise ValueError
    return roots


def commands(value: object) -> dict[str, tuple[str, ...]]:
    """Commands by name, each as a list of words: no shell is involved."""
    if not isinstance(value, dict):
        raise ValueError
    found = {word(str(name)): one for name, one in value.items()}
    for words in found.values():
        if not isinstance(words, list) or not words or not all(isinstance(one, str) for one in words):
            raise ValueError
    return {name: tuple(words) for name, words in found.items()}


def groups(value: object) -> dict[str, Any]:
    if isinstance(value, dict) and all(isinstance(one, str | list) for one in value.values()):
        return {str(name): one for name, one in value.items()}
    raise ValueError


def where(value: object) -> dict[str, str]:
    """Where the files of each environment are rendered; a single word applies to all."""
    found = value if isinstance(value, dict) else {ALL: value}
    if found and all(one in ("controller", "agent") for one in found.values()):
        return {str(name): str(one) for name, one in found.items()}
    raise ValueError


def repeat_limit(value: object) -> int:
    """The limit; -1 means no limit."""
    if value in ("None", "none"):
        return -1
    return number(1, 10**9)(value)


def mapping(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return {str(name): one for name, one in value.items()}
    raise ValueError


def sources(value: object) -> list[Any]:
    if isinstance(value, list) and all(isinstance(one, dict) and len(one) == 1 for one in value):
        return value
    raise ValueError


def reactor(value: object) -> tuple[Rule, ...] | str:
    return text(value) if isinstance(value, str) else read_map(value)


def strategy(value: object) -> str:
    if value in ("smart", "recurse", "aggregate", "overwrite", "list", "none"):
        return str(value)
    raise ValueError


def transport(value: object) -> str:
    if value in ("openssh", "asyncssh"):
        return str(value)
    raise ValueError


def flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError


def read_pins(value: object) -> dict[str, dict[str, Any]]:
    if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
        return {str(name): one for name, one in value.items()}
    raise ValueError


def networks(value: object) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in several):
        raise ValueError
    return tuple(str(ip_network(str(one), strict=False)) for one in several)


def security(value: object) -> str:
    if value in ("none", "starttls", "tls"):
        return str(value)
    raise ValueError
