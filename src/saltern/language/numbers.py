"""The limit for the digits of a number: Python cannot print longer ones, so they are refused on input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_DIGITS = 100_000
MOST_BITS = 332_192  # no number of up to this many bits has more digits
FIX = "quote it to make it text"
_WRITTEN = rf"(?<![\d_])\d[\d_]{{{MOST_DIGITS},}}"
_REFUSED = "integer string conversion"  # part of Python's message

Path = tuple[object, ...]


def is_too_long(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > MOST_BITS


def description(value: int) -> str:
    """A text in place of a number that is too long to be printed."""
    return f"(a number of about {int(value.bit_length() * 0.30103):,} digits)"


def what(length: int = 0) -> str:
    of = f"of {length:,} digits" if length else f"of more than {MOST_DIGITS:,} digits"
    return f"a number {of} is too long: at most {MOST_DIGITS:,} are allowed"


def was_refused(problem: Exception) -> bool:
    """True if the error means that Python refused to read or print a number."""
    return isinstance(problem, ValueError) and _REFUSED in str(problem)


def written_in(text: str) -> tuple[int, int, int]:
    """The line and column of the first number in ``text`` that is too long, and its length; zeros if none."""
    import re

    found = re.search(_WRITTEN, text)
    return (*place_of(text, found.start()), len(found[0])) if found else (0, 0, 0)


def place_of(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def path_to_long(data: object) -> Path | None:
    """The path to the first number that is too long, as key or as value."""
    left: list[tuple[Path, object]] = [((), data)]
    seen: set[int] = set()
    while left:
        path, value = left.pop()
        if is_too_long(value):
            return path
        if isinstance(value, Mapping | list | tuple | set | frozenset) and id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping) and any(is_too_long(key) for key in value):
                return path
            left += reversed([((*path, name), inner) for name, inner in _inner(value)])
    return None


def _inner(value: Mapping[object, object] | Iterable[object]) -> Iterable[tuple[object, object]]:
    return value.items() if isinstance(value, Mapping) else enumerate(value)
