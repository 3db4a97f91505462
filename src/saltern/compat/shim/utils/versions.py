"""``salt.utils.versions``. Deprecations only concern Salt: ``warn_until`` does nothing here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import total_ordering
from typing import Any

_PARTS = re.compile(r"(\d+|[a-z]+|\.)", re.IGNORECASE)


@total_ordering
class LooseVersion:
    """A version: numbers are compared as numbers, words as words, and a word sorts before a number."""

    def __init__(self, vstring: Any = "") -> None:
        self.vstring = str(vstring)
        parts = (part for part in _PARTS.findall(self.vstring) if part != ".")
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def _key(self) -> list[tuple[int, int, str]]:
        return [(1, part, "") if isinstance(part, int) else (0, 0, part) for part in self.version]

    def __eq__(self, other: object) -> bool:
        return self._key() == _version(other)._key()

    def __lt__(self, other: object) -> bool:
        return self._key() < _version(other)._key()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"Version({self.vstring!r})"


Version = StrictVersion = LooseVersion


def _version(value: object) -> LooseVersion:
    return value if isinstance(value, LooseVersion) else LooseVersion(value)


def parse(version: Any) -> LooseVersion:
    return LooseVersion(version)


def version_cmp(pkg1: Any, pkg2: Any, ignore_epoch: bool = False) -> int | None:
    """-1, 0 or 1."""
    first, second = (_without_epoch(one) if ignore_epoch else str(one) for one in (pkg1, pkg2))
    if LooseVersion(first) == LooseVersion(second):
        return 0
    return -1 if LooseVersion(first) < LooseVersion(second) else 1


def _without_epoch(version: Any) -> str:
    return str(version).rpartition(":")[2]


OPERATORS: dict[str, frozenset[int]] = {
    "==": frozenset({0}),
    "": frozenset({0}),
    "!=": frozenset({-1, 1}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
}


def compare(
    ver1: Any = "",
    oper: str = "==",
    ver2: Any = "",
    cmp_func: Callable[..., int | None] | None = None,
    ignore_epoch: bool = False,
) -> bool:
    found = (cmp_func or version_cmp)(str(ver1), str(ver2), ignore_epoch=ignore_epoch)
    return found is not None and found in OPERATORS.get(oper, ())


def warn_until(*args: Any, **kwargs: Any) -> None:
    """Nothing."""


def kwargs_warn_until(*args: Any, **kwargs: Any) -> None:
    """Nothing."""


def warn_until_date(*args: Any, **kwargs: Any) -> None:
    """Nothing."""
