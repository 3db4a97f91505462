"""The options of a beacon, for the agent that runs it and for the functions that change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def options_of(given: object) -> dict[str, Any]:
    """The options of a beacon as one mapping: Salt writes them as a list of single-key mappings."""
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    rows = given if isinstance(given, list) else []
    return {str(key): value for row in rows if isinstance(row, Mapping) for key, value in row.items()}
