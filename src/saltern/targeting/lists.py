"""Comma-separated names: ``web1,db*,@canary``."""

from __future__ import annotations

import re

_PART = r"@?(?:\[[^\]\s]*\]|[^\s,()@\[\]])+"  # a name, a pattern or a group
_LIST = re.compile(rf"{_PART}(?:,{_PART})+")
_PATTERN = re.compile(r"[*?\[\]@]")


def parts_of(target: str) -> list[str]:
    """The parts of such a list; empty for any other target."""
    return re.findall(_PART, target) if _LIST.fullmatch(target) else []


def is_name(part: str) -> bool:
    """True for a plain name, not a pattern or group."""
    return not _PATTERN.search(part)


def spelled_list(target: str) -> str:
    """The list as a compound expression; any other target unchanged."""
    parts = parts_of(target)
    if not parts:
        return target
    return f"L@{target}" if all(map(is_name, parts)) else " or ".join(parts)
