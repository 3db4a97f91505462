"""``key:sub:value`` patterns over nested data, for grains and pillar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from saltern.targeting.problem import BadTarget
from saltern.targeting.traverse import traverse

Test = Callable[[object, str], bool]


def like(value: object, pattern: str) -> bool:
    """True if the shell pattern matches; grains and pillar are compared without case."""
    return fnmatchcase(str(value).lower(), pattern.lower())


def regular(value: object, pattern: str) -> bool:
    """True if the regular expression matches the beginning, in lower case as in Salt."""
    return expression(pattern.lower()).match(str(value).lower()) is not None


def same(value: object, text: str) -> bool:
    return str(value).lower() == text.lower()


def expression(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        raise BadTarget(f"{pattern!r} is not a regular expression: {problem}") from None


def fits(data: Mapping[str, object], target: str, delimiter: str, test: Test) -> bool:
    """True if something in ``data`` matches ``target``.

    The delimiter may be part of a key or of the value, so every split into key and pattern is
    tried, the one with the longest key first.
    """
    parts = target.split(delimiter)
    for end in range(len(parts) - 1, 0, -1):
        key, pattern = delimiter.join(parts[:end]), delimiter.join(parts[end:])
        if key == "*":  # any key: the pattern keeps its star, which searches every value
            found: object = data
            pattern = target
        else:
            found = traverse(data, key, {}, delimiter)
        if _fits(found, pattern, delimiter, test):
            return True
    return False


def _fits(found: object, pattern: str, delimiter: str, test: Test) -> bool:
    if isinstance(found, Mapping):
        return bool(found) and _in_mapping(found, pattern, delimiter, test)
    if isinstance(found, list | tuple):
        return any(_member(each, pattern, delimiter, test) for each in found)
    return test(found, pattern)


def _member(found: object, pattern: str, delimiter: str, test: Test) -> bool:
    inside = isinstance(found, Mapping) and _in_mapping(found, pattern, delimiter, test)
    return inside or test(found, pattern)


def _in_mapping(found: Mapping[str, object], pattern: str, delimiter: str, test: Test) -> bool:
    """True if the pattern matches a key, or its rest matches below one; ``*:x`` searches every value."""
    star = f"*{delimiter}"
    anywhere = pattern.startswith(star)
    pattern = pattern.removeprefix(star)
    if pattern == "*" or pattern in found or any(test(key, pattern) for key in found):
        return True
    if delimiter in pattern and fits(found, pattern, delimiter, test):
        return True
    return anywhere and any(_in_value(found[key], pattern, delimiter, test) for key in found)


def _in_value(found: object, pattern: str, delimiter: str, test: Test) -> bool:
    if isinstance(found, list):
        return any(test(each, pattern) for each in found)
    if isinstance(found, Mapping):
        return _in_mapping(found, pattern, delimiter, test)
    return test(found, pattern)
