"""Names with commas between them, as people type them: ``web1,db*,@canary``."""

from __future__ import annotations

import re

_PART = r"@?(?:\[[^\]\s]*\]|[^\s,()@\[\]])+"  # a name, a pattern or a group
_LIST = re.compile(rf"{_PART}(?:,{_PART})+")
_PATTERN = re.compile(r"[*?\[\]@]")


def parts_of(target: str) -> list[str]:
    """The parts of such a list; none if the target is anything else."""
    return re.findall(_PART, target) if _LIST.fullmatch(target) else []


def is_name(part: str) -> bool:
    """False for a pattern and for a group."""
    return not _PATTERN.search(part)


def spelled_list(target: str) -> str:
    """The list in the words of the compound language; any other target as it is."""
    parts = parts_of(target)
    if not parts:
        return target
    return f"L@{target}" if all(map(is_name, parts)) else " or ".join(parts)
