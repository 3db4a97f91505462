"""``salt.utils.data``."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from saltern.modules.api.params import TRUE_WORDS
from saltern.render.filters.data import (
    compare_dicts,
    compare_lists,
    flatten,
    from_entries,
    is_iter,
    is_list,
    sorted_ignorecase,
    to_entries,
)
from saltern.targeting.traverse import traverse


def traverse_dict(data: Any, key: Any, default: Any = None, delimiter: str = ":") -> Any:
    return traverse(data, key, default, delimiter)


traverse_dict_and_list = traverse_dict


def is_true(value: Any = None) -> bool:
    """True for numbers above zero and words such as ``yes``."""
    try:
        return int(value) > 0
    except (TypeError, ValueError):
        pass
    return value.lower() in TRUE_WORDS if isinstance(value, str) else bool(value)


def is_dictlist(data: Any) -> bool:
    """True for a list of mappings with one key each, like arguments in SLS files."""
    return isinstance(data, list) and all(isinstance(item, dict) and len(item) == 1 for item in data)


def repack_dictlist(
    data: Any,
    strict: bool = False,
    recurse: bool = False,
    key_cb: Callable[[Any], Any] | None = None,
    val_cb: Callable[[Any, Any], Any] | None = None,
) -> dict[Any, Any]:
    """The mapping for such a list; bare items have no value. Empty for anything else."""
    if isinstance(data, str):
        from saltern.compat.shim.utils.yaml import safe_load

        data = safe_load(data)
    name = key_cb or (lambda key: key)
    make = val_cb or (lambda _key, value: value)
    if not isinstance(data, list):
        return {}
    result: dict[Any, Any] = {}
    for item in data:
        if isinstance(item, str | int | float):
            result[name(item)] = None
            continue
        if not isinstance(item, dict) or len(item) != 1:
            return {}
        ((key, value),) = item.items()
        if is_dictlist(value) and (recurse or strict):
            if not recurse:
                return {}
            result[name(key)] = repack_dictlist(value, recurse=True)
        else:
            result[name(key)] = make(key, value)
    return result


def _map_values(data: Any, change: Callable[[Any], Any], keep_tuples: bool) -> Any:
    if isinstance(data, Mapping):
        return {
            _map_values(key, change, True): _map_values(value, change, keep_tuples)
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        items = [_map_values(item, change, keep_tuples) for item in data]
        return tuple(items) if keep_tuples and isinstance(data, tuple) else items
    return change(data)


def decode(data: Any, encoding: str | None = None, errors: str = "strict", *_: Any, **options: Any) -> Any:
    """The data with bytes, at any depth, as text."""
    turned = bool(options.get("to_str", True))
    keep = bool(options.get("preserve_tuples", False))

    def change(value: Any) -> Any:
        return value.decode(encoding or "utf-8", errors) if turned and isinstance(value, bytes) else value

    return _map_values(data, change, keep)


def encode(data: Any, encoding: str | None = None, errors: str = "strict", *_: Any, **options: Any) -> Any:
    """The data with text, at any depth, as bytes."""

    def change(value: Any) -> Any:
        return value.encode(encoding or "utf-8", errors) if isinstance(value, str) else value

    return _map_values(data, change, bool(options.get("preserve_tuples", False)))


decode_dict = decode_list = decode
encode_dict = encode_list = encode


def stringify(data: Iterable[Any]) -> list[str]:
    return [item if isinstance(item, str) else str(item) for item in data]


def exactly_n(iterable: Iterable[Any], amount: int = 1) -> bool:
    return sum(1 for item in iterable if item) == amount


def exactly_one(iterable: Iterable[Any]) -> bool:
    return exactly_n(iterable)


def filter_by(
    lookup_dict: Mapping[str, Any],
    lookup: str | Iterable[str],
    traverse: Mapping[str, Any],
    merge: Any = None,
    default: str = "default",
    base: str | None = None,
) -> Any:
    """The entry whose key matches the value that ``lookup`` leads to."""
    from fnmatch import fnmatchcase

    from saltern.language.merge import deep

    values: list[Any] = []
    for key in [lookup] if isinstance(lookup, str) else lookup:
        found = traverse_dict(traverse, key, None)
        values += found if isinstance(found, list) else [found]
    chosen = next(
        (
            entry
            for value in values
            for key, entry in lookup_dict.items()
            if fnmatchcase(str(value), str(key))
        ),
        lookup_dict.get(default),
    )
    if base is not None and isinstance(lookup_dict.get(base), Mapping):
        chosen = deep(lookup_dict[base], chosen if isinstance(chosen, Mapping) else {}, False)
    return deep(chosen or {}, merge, False) if merge else chosen


def subdict_match(
    data: Any,
    expr: str,
    delimiter: str = ":",
    regex_match: bool = False,
    exact_match: bool = False,
) -> bool:
    """True if ``a:b:pattern`` matches the data."""
    import re
    from fnmatch import fnmatch

    parts = expr.split(delimiter)
    for cut in range(len(parts) - 1, 0, -1):
        found = traverse(data, delimiter.join(parts[:cut]), None, delimiter)
        wanted = delimiter.join(parts[cut:])
        for value in found if isinstance(found, list) else [] if found is None else [found]:
            text = str(value).lower()
            fits = re.match(wanted.lower(), text) if regex_match else fnmatch(text, wanted.lower())
            if text == wanted.lower() if exact_match else fits:
                return True
    return False


def substr_in_list(string_to_search_for: str, list_to_search: Iterable[str]) -> bool:
    return any(string_to_search_for in item for item in list_to_search)


def filter_falsey(data: Any, recurse_depth: int | None = None, ignore_types: tuple[type, ...] = ()) -> Any:
    """The data without empty values; those of ``ignore_types`` are kept."""

    def inner(value: Any) -> Any:
        if recurse_depth and isinstance(value, dict | list | tuple | set):
            return filter_falsey(value, recurse_depth - 1, ignore_types)
        return value

    def kept(value: Any) -> bool:
        return bool(value) or type(value) in tuple(ignore_types)

    if isinstance(data, Mapping):
        pairs = ((key, inner(value)) for key, value in data.items())
        return type(data)((key, value) for key, value in pairs if kept(value))  # type: ignore[call-arg]
    if isinstance(data, list | tuple | set):
        return type(data)(value for value in map(inner, data) if kept(value))
    return data


def recursive_diff(
    old: Any,
    new: Any,
    ignore_keys: Iterable[str] | None = None,
    ignore_order: bool = False,
    ignore_missing_keys: bool = False,
) -> dict[str, Any]:
    """``{"old": …, "new": …}`` with only the differences; empty if there are none."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _differences(old, new, set(ignore_keys or ()), ignore_order, ignore_missing_keys)
    if ignore_order and isinstance(old, list | tuple) and isinstance(new, list | tuple):
        same = all(item in new for item in old) and all(item in old for item in new)
        return {} if same else {"old": old, "new": new}
    return {} if old == new else {"old": old, "new": new}


def _differences(
    old: Mapping[Any, Any],
    new: Mapping[Any, Any],
    ignored: set[Any],
    ignore_order: bool,
    ignore_missing: bool,
) -> dict[str, Any]:
    result: dict[str, dict[Any, Any]] = {"old": {}, "new": {}}
    for key in (*old, *(key for key in new if key not in old)):
        if key in ignored:
            continue
        if key not in new or key not in old:
            if key in new or not ignore_missing:
                result["new" if key in new else "old"][key] = new[key] if key in new else old[key]
            continue
        found = recursive_diff(old[key], new[key], ignored, ignore_order, ignore_missing)
        for side in ("old", "new"):
            if side in found:
                result[side][key] = found[side]
    return {side: values for side, values in result.items() if values}


def simple_types_filter(data: Any) -> Any:
    """The data with only texts, numbers, booleans, lists and mappings; anything else as text."""
    if isinstance(data, Mapping):
        return {simple_types_filter(key): simple_types_filter(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set):
        return [simple_types_filter(item) for item in data]
    return data if data is None or isinstance(data, str | int | float | bool) else repr(data)


class CaseInsensitiveDict(dict[Any, Any]):
    def __init__(self, init: Any = None, **kwargs: Any) -> None:
        super().__init__()
        for key, value in {**dict(init or {}), **kwargs}.items():
            self[key] = value

    @staticmethod
    def _key(key: Any) -> Any:
        return key.lower() if isinstance(key, str) else key

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._key(key), value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._key(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._key(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(self._key(key), default)
