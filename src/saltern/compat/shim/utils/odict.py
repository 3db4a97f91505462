"""``salt.utils.odict``: plain mappings keep their order today."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

__all__ = ("DefaultOrderedDict", "HashableOrderedDict", "OrderedDict")

DefaultOrderedDict = defaultdict


class HashableOrderedDict(OrderedDict):  # type: ignore[type-arg]
    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)
