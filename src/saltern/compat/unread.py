"""Modules of an untrusted tree: known by the names of their files, and never read or imported."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

from saltern.compat.places import directories
from saltern.system.guard import REFUSED

if TYPE_CHECKING:
    from saltern.config.settings import Settings


class Unread:
    """Implements ``modules.registry.Provider``: offers no functions, and the reason for that."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, frozenset[str]] = {}

    def module(self, kind: str, name: str) -> ModuleType | None:
        """An empty module that hides the built-in one of its name, which the tree would not use."""
        if name not in self._names(kind):
            return None
        empty = ModuleType(name)
        empty.BROKEN = True  # type: ignore[attr-defined]
        return empty

    def names(self, kind: str) -> list[str]:
        return sorted(self._names(kind))

    def why(self, kind: str, name: str) -> str:
        return f"{REFUSED}: the module {name!r} is Python of the tree" if name in self._names(kind) else ""

    def _names(self, kind: str) -> frozenset[str]:
        if kind not in self._known:
            self._known[kind] = frozenset(
                _stem(name) for place in directories(self._settings, kind) for name in _list_names(place)
            )
        return self._known[kind]


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _list_names(place: str) -> list[str]:
    try:
        return [name for name in os.listdir(place) if not name.startswith(("_", "."))]
    except OSError:
        return []
