"""``salt.utils.dictdiffer``: without ``RecursiveDictDiffer``, which only Salt's own modules use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class DictDiffer:
    """The keys that were added, removed, changed or left unchanged."""

    def __init__(self, current_dict: Mapping[Any, Any], past_dict: Mapping[Any, Any]) -> None:
        self.current_dict, self.past_dict = current_dict, past_dict

    def added(self) -> set[Any]:
        return self.current_dict.keys() - self.past_dict.keys()

    def removed(self) -> set[Any]:
        return self.past_dict.keys() - self.current_dict.keys()

    def _both(self, *, same: bool) -> set[Any]:
        keys = self.current_dict.keys() & self.past_dict.keys()
        return {key for key in keys if (self.current_dict[key] == self.past_dict[key]) is same}

    def changed(self) -> set[Any]:
        return self._both(same=False)

    def unchanged(self) -> set[Any]:
        return self._both(same=True)


def diff(current_dict: Mapping[Any, Any], past_dict: Mapping[Any, Any]) -> DictDiffer:
    return DictDiffer(current_dict, past_dict)


def deep_diff(
    old: Mapping[Any, Any], new: Mapping[Any, Any], ignore: Iterable[Any] | None = None
) -> dict[str, Any]:
    from saltern.compat.shim.utils.data import recursive_diff

    return recursive_diff(dict(old), dict(new), ignore)
