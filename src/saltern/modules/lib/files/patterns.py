"""Patterns for paths, as in ``exclude_pat`` and ``include_pat``."""

from __future__ import annotations

import re
from collections.abc import Callable

from saltern.modules.api.refused import Refused

Matches = Callable[[str], bool]


def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled regular expression. Raises ``Refused`` if it is wrong."""
    try:
        return re.compile(pattern, flags)
    except re.error as problem:
        raise Refused(f"{pattern!r} is not a regular expression: {problem}") from None


def path_matcher(patterns: str | list[str] | None) -> Matches | None:
    """A function that is true if a relative path matches a glob, or ``E@`` and a regular expression."""
    if not patterns:
        return None
    given = [patterns] if isinstance(patterns, str) else patterns
    tests = [_test(str(pattern)) for pattern in given]
    return lambda path: any(test(path) for test in tests)


def _test(pattern: str) -> Matches:
    if pattern.startswith("E@"):
        search = compile_pattern(pattern[2:]).search
        return lambda path: search(path) is not None
    from fnmatch import translate

    match = re.compile(translate(pattern)).match
    return lambda path: match(path) is not None
