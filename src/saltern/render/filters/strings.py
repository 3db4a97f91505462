"""Filters on text: patterns, names, quoting."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def _pattern(rgx: str, ignorecase: bool, multiline: bool) -> re.Pattern[str]:
    try:
        return re.compile(rgx, (ignorecase and re.IGNORECASE) | (multiline and re.MULTILINE))
    except re.error as problem:
        raise ValueError(f"wrong pattern {rgx!r}: {problem}") from None


def _groups(found: re.Match[str] | None) -> tuple[str | None, ...] | None:
    """The groups of a match; the whole match if the pattern has none."""
    return found and (found.groups() or (found.group(),))


def regex_search(
    txt: str, rgx: str, ignorecase: bool = False, multiline: bool = False
) -> tuple[str | None, ...] | None:
    """The groups of the first match of ``rgx`` (the whole match if it has no groups), or None."""
    return _groups(_pattern(rgx, ignorecase, multiline).search(txt))


def regex_match(
    txt: str, rgx: str, ignorecase: bool = False, multiline: bool = False
) -> tuple[str | None, ...] | None:
    """Like ``regex_search``, but the match must be at the start of the text."""
    return _groups(_pattern(rgx, ignorecase, multiline).match(txt))


def regex_replace(
    txt: str, rgx: str, val: str, ignorecase: bool = False, multiline: bool = False, count: int = 0
) -> str:
    """Every match (or the first ``count``) replaced; ``\\1`` in ``val`` is the first group."""
    try:
        return _pattern(rgx, ignorecase, multiline).sub(val, txt, count=count)
    except re.error as problem:
        raise ValueError(f"wrong replacement {val!r}: {problem}") from None


def regex_escape(value: str) -> str:
    return re.escape(value)


def matches(txt: str, rgx: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    """The test ``is match``: True if the text starts with a match."""
    return _pattern(rgx, ignorecase, multiline).match(txt) is not None


def quote(txt: str) -> str:
    """The text quoted as one shell word."""
    import shlex

    return shlex.quote(txt)


def is_hex(value: Any) -> bool:
    try:
        int(value, 16)
    except (TypeError, ValueError):
        return False
    return True


def contains_whitespace(text: str) -> bool:
    return any(character.isspace() for character in text)


def to_camelcase(snake_input: str, uppercamel: bool = False) -> str:
    """``some_text`` → ``someText``, or ``SomeText``."""
    first, *others = snake_input.split("_")
    return (first.capitalize() if uppercamel else first) + "".join(map(str.capitalize, others))


_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def to_snake_case(camel_input: str) -> str:
    """``someHTTPText`` → ``some_http_text``"""
    return _WORD_STARTS.sub("_", camel_input).lower()


def check_whitelist_blacklist(
    value: object, whitelist: str | Iterable[str] | None = None, blacklist: str | Iterable[str] | None = None
) -> bool:
    """True if the lists of globs or patterns allow ``value``. The blacklist wins."""
    if blacklist is not None and _listed(str(value), blacklist, "blacklist"):
        return False
    return not whitelist or _listed(str(value), whitelist, "whitelist")


def _listed(value: str, patterns: object, title: str) -> bool:
    if isinstance(patterns, str):
        patterns = [patterns]
    if not isinstance(patterns, Iterable):
        raise TypeError(f"{title} must be a list, not {type(patterns).__name__}")
    return any(_fits(value, str(pattern)) for pattern in patterns)


def _fits(value: str, pattern: str) -> bool:
    """True if it is equal, or matches as a glob or as a regular expression on the whole."""
    import fnmatch

    if value == pattern or fnmatch.fnmatchcase(value, pattern):
        return True
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return False  # a glob that is not a regular expression, such as *.conf


def indent(
    s: str, width: int | str = 4, first: bool = False, blank: bool = False, indentfirst: bool | None = None
) -> str:
    """Jinja's ``indent``; ``indentfirst`` is the old name of ``first``."""
    from jinja2.filters import do_indent

    return do_indent(s, width, first if indentfirst is None else indentfirst, blank)
