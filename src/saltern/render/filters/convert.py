"""Filters that convert values."""

from __future__ import annotations

import re
from typing import Any

_TRUE_WORDS = ("yes", "1", "true")


def to_bool(val: object) -> bool:
    """True for ``yes``, ``true``, ``1`` in any case, whole numbers above 0, and nonempty lists."""
    if isinstance(val, str):
        return val.lower() in _TRUE_WORDS
    if isinstance(val, int):
        return val > 0
    return not isinstance(val, float) and bool(val)


def to_num(text: Any) -> Any:
    """The text as a number if it is one, else unchanged."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def to_bytes(s: str | bytes | bytearray, encoding: str | None = None, errors: str = "strict") -> bytes:
    if isinstance(s, str):
        return s.encode(encoding or "utf-8", errors)
    if isinstance(s, bytes | bytearray):
        return bytes(s)
    raise TypeError(f"needs text or bytes, not {type(s).__name__}")


_SIZE = re.compile(r"(\d+|\d*\.\d+|\d+\.)\s*([a-z]*)")
_POWERS = {letter: power for power, letter in enumerate("bkmgtpezy")}


def human_to_bytes(size: object, default_unit: str = "B", handle_metric: bool = False) -> int:
    """``1.5G`` → 1610612736; 0 for anything that is not a size.

    A unit counts in powers of 1024; with ``handle_metric``, MB counts in powers of 1000 and MiB
    and M in powers of 1024.
    """
    found = _SIZE.fullmatch(str(size).strip().lower())
    if not found:
        return 0
    unit = found[2] or default_unit.lower()
    power = _POWERS.get(unit[:1])
    if power is None or unit[1:] not in ("", "b", "ib"):
        return 0
    metric = handle_metric and unit[1:] == "b"
    number = float(found[1]) if "." in found[1] else int(found[1])
    return int(number * (1000 if metric else 1024) ** power)
