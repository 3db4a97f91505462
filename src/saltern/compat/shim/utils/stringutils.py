"""``salt.utils.stringutils``."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from saltern.render.filters.convert import human_to_bytes, to_num
from saltern.render.filters.strings import check_whitelist_blacklist, contains_whitespace, is_hex
from saltern.render.filters.strings import to_camelcase as snake_to_camel_case
from saltern.render.filters.strings import to_snake_case as camel_to_snake_case


def to_bytes(s: Any, encoding: str | None = None, errors: str = "strict") -> bytes:
    if s is None or isinstance(s, bytes):
        return s  # type: ignore[return-value]
    if isinstance(s, bytearray):
        return bytes(s)
    if isinstance(s, str):
        return s.encode(encoding or "utf-8", errors)
    raise TypeError(f"expected text or bytes, not {type(s).__name__}")


def to_str(s: Any, encoding: Any = None, errors: str = "strict", normalize: bool = False) -> Any:
    if isinstance(s, str) or s is None:
        return _normal(s) if normalize and s else s
    if not isinstance(s, bytes | bytearray):
        raise TypeError(f"expected text or bytes, not {type(s).__name__}")
    tried = encoding if isinstance(encoding, list | tuple) else (encoding or "utf-8",)
    for place, one in enumerate(tried):
        try:
            text = bytes(s).decode(one, errors)
            return _normal(text) if normalize else text
        except UnicodeDecodeError:
            if place == len(tried) - 1:
                raise
    return ""


to_unicode = to_str


def _normal(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFC", text)


def to_none(text: Any) -> Any:
    return text if str(text).strip() and str(text).strip().lower() != "none" else None


def is_quoted(value: Any) -> str:
    """The quote that encloses a text, or nothing."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[0]
    return ""


def dequote(value: Any) -> Any:
    return value[1:-1] if is_quoted(value) else value


def is_binary(data: Any) -> bool:
    block = to_bytes(data)[:8192] if data else b""
    odd = sum(1 for byte in block if byte < 32 and byte not in b"\n\r\t\f\b")
    return b"\0" in block or odd > len(block) * 0.3


def random(size: int = 32) -> str:
    from saltern.render.filters.crypto import random_str

    return random_str(size)


def expr_match(line: Any, expr: Any) -> bool:
    """True if the text equals the expression, or matches it as a glob or as a regular expression."""
    from fnmatch import fnmatchcase

    if line == expr:
        return True
    try:
        return fnmatchcase(line, expr) or re.fullmatch(expr, line) is not None
    except (TypeError, re.error):
        return False


def check_include_exclude(
    path_str: str, include_pat: str | None = None, exclude_pat: str | None = None
) -> bool:
    """True if the path is included; ``E@`` before a pattern makes it a regular expression."""
    if include_pat and not _fits(path_str, include_pat):
        return False
    return not (exclude_pat and _fits(path_str, exclude_pat))


def _fits(text: str, pattern: str) -> bool:
    from fnmatch import fnmatch

    if pattern.startswith("E@"):
        return re.search(pattern[2:], text) is not None
    return fnmatch(text, pattern)


def get_diff_list(a: Any, b: Any, *args: Any, **kwargs: Any) -> list[str]:
    from difflib import unified_diff

    return list(unified_diff(_lines(a), _lines(b), *args, **kwargs))


def get_diff(a: Any, b: Any, *args: Any, **kwargs: Any) -> str:
    """The difference between two texts, lists of lines, or files."""
    return "".join(get_diff_list(a, b, *args, **kwargs))


def _lines(value: str | bytes | Iterable[str]) -> list[str]:
    if isinstance(value, str | bytes):
        import os

        if os.path.isfile(value):
            with open(value, encoding="utf-8", errors="replace") as file:
                return file.readlines()
        return str(to_str(value)).splitlines(keepends=True)
    return list(value)


def get_context(template: str, line: int, num_lines: int = 5, marker: str | None = None) -> str:
    """The lines around a line."""
    rows = template.splitlines()
    start, end = max(0, line - num_lines - 1), min(len(rows), line + num_lines)
    shown = [
        row + (marker or "") if start + at + 1 == line else row for at, row in enumerate(rows[start:end])
    ]
    return "---\n" + "\n".join(shown) + "\n---"
