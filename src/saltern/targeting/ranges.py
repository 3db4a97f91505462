"""Ranges of host names: ``web[1-3],db[01-10].example.com``.

Nothing is expanded, so that ``web[1-999999999]`` is cheap.
"""

from __future__ import annotations

import re

from saltern.targeting.problem import BadTarget

_SPLIT = re.compile(r",(?![^\[]*\])")  # a comma that is not inside brackets
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_SPAN = re.compile(r"(\d+)(?:-(\d+))?")
_AS = "write it as web[1-3] or web[1,4,7-9]"


def in_range(name: str, target: str) -> bool:
    """True if the range contains ``name``."""
    if "%" in target:
        raise BadTarget(
            f"range {target!r} names a cluster, but there is no range server",
            "name the hosts: web[1-3],db1",
        )
    return any(_has(part.strip(), name) for part in _SPLIT.split(target))


def _has(part: str, name: str) -> bool:
    pieces = _BRACKETS.split(part)
    literals, spans = pieces[::2], [_spans(text, part) for text in pieces[1::2]]
    if any(mark in text for text in literals for mark in "[]{}"):
        raise BadTarget(f"range {part!r} cannot be read", _AS)
    found = re.fullmatch(r"(\d+)".join(map(re.escape, literals)), name)
    return found is not None and all(
        any(low <= int(number) <= high and width in (0, len(number)) for low, high, width in each)
        for number, each in zip(found.groups(), spans, strict=True)
    )


def _spans(text: str, part: str) -> list[tuple[int, int, int]]:
    """The lowest and highest number, and the number of digits if they are zero-padded."""
    spans = []
    for piece in text.split(","):
        found = _SPAN.fullmatch(piece.strip())
        if not found:
            raise BadTarget(f"range {part!r} cannot be read", _AS)
        low, high = found[1], found[2] or found[1]
        spans.append((int(low), int(high), len(low) if low.startswith("0") else 0))
    return spans
