"""``salt.utils.dictupdate``."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.language.merge import deep, join_lists
from saltern.language.merge import merge as merge_by
from saltern.render.filters.nested import (
    append_dict_key_value,
    extend_dict_key_value,
    set_dict_key_value,
    update_dict_key_value,
)


def update(
    dest: Any, upd: Any, recursive_update: bool = True, merge_lists: bool = False, strict: bool = False
) -> Any:
    """Merge ``upd`` into ``dest``, which is changed."""
    if not isinstance(dest, Mapping) or not isinstance(upd, Mapping):
        raise TypeError("only mappings can be updated")
    for key, value in upd.items():
        below = dest.get(key)
        if recursive_update and isinstance(below, Mapping) and isinstance(value, Mapping):
            value = update(below, value, merge_lists=merge_lists, strict=strict)
        elif recursive_update and merge_lists and isinstance(below, list):
            if strict and isinstance(value, Mapping):
                raise TypeError(f"a list and a mapping cannot be merged, as under {key!r}")
            value = join_lists(below, value) if isinstance(value, list) else value
        dest[key] = value  # type: ignore[index]
    return dest


def merge(
    obj_a: Any,
    obj_b: Any,
    strategy: str = "smart",
    renderer: str = "yaml",  # noqa: ARG001
    merge_lists: bool = False,
) -> Any:
    return merge_by(obj_a, obj_b, strategy=strategy, merge_lists=merge_lists)


def merge_recurse(obj_a: Any, obj_b: Any, merge_lists: bool = False) -> Any:
    return deep(obj_a, obj_b, merge_lists)


def merge_overwrite(obj_a: Any, obj_b: Any, merge_lists: bool = False) -> Any:  # noqa: ARG001
    return {**obj_a, **obj_b}


def merge_aggregate(obj_a: Any, obj_b: Any) -> Any:
    return merge_by(obj_a, obj_b, strategy="aggregate")


def merge_list(obj_a: Any, obj_b: Any) -> Any:
    return merge_by(obj_a, obj_b, strategy="list")


def ensure_dict_key(in_dict: Any, keys: str, delimiter: str = ":", ordered_dict: bool = False) -> Any:  # noqa: ARG001
    below = in_dict
    for key in keys.split(delimiter):
        if not isinstance(below.get(key), dict):
            below[key] = {}
        below = below[key]
    return in_dict
