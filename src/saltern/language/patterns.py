"""Patterns in names of files, and of states in requisites."""

from __future__ import annotations

PATTERN = frozenset("*?[")


def is_pattern(text: str) -> bool:
    return not PATTERN.isdisjoint(text)
