"""Filters on lists and mappings: find, compare, flatten, turn into entries and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def traverse(data: object, key: str | Sequence[str], default: object = None, delimiter: str = ":") -> object:
    """The value at ``a:b:c``. In a list, a step is an index, or a key of the first mapping that has it."""
    steps = key.split(delimiter) if isinstance(key, str) else key
    for step in steps:
        found = _step(data, step)
        if found is _NOTHING:
            return default
        data = found
    return data


_NOTHING = object()


def _step(data: object, step: object) -> object:
    if isinstance(data, list | tuple):
        return _step_into_list(data, step)
    if isinstance(data, Mapping):
        return next((data[key] for key in (step, _number(step)) if key in data), _NOTHING)
    return _NOTHING


def _step_into_list(data: Sequence[object], step: object) -> object:
    index = _number(step)
    if isinstance(index, int):
        return data[index] if -len(data) <= index < len(data) else _NOTHING
    return next((item[step] for item in data if isinstance(item, Mapping) and step in item), _NOTHING)


def _number(step: Any) -> Any:
    try:
        return int(step)
    except (TypeError, ValueError):
        return step


def json_query(data: object, expr: str) -> object:
    """Query with a JMESPath expression; needs the jmespath package."""
    try:
        import jmespath
    except ImportError:
        raise ValueError("the jmespath package is not installed (pip install jmespath)") from None
    try:
        return jmespath.search(expr, data)
    except jmespath.exceptions.JMESPathError as problem:
        raise ValueError(f"wrong JMESPath expression {expr!r}: {problem}") from None


def flatten(data: Iterable[object], levels: int | None = None, preserve_nulls: bool = False) -> list[object]:
    """One list from nested ones, ``levels`` deep. Nulls, and the texts None and null, are left out."""
    return list(_flat(data, levels, preserve_nulls, ()))


_NULLS = (None, "None", "null")


def _flat(data: Iterable[Any], levels: int | None, keep: bool, above: tuple[int, ...]) -> Iterable[Any]:
    if id(data) in above:
        raise ValueError("this list contains itself")
    for item in data:
        if not keep and isinstance(item, str | None) and item in _NULLS:
            continue
        if not is_iter(item) or levels == 0:
            yield item
        else:
            yield from _flat(item, None if levels is None else levels - 1, keep, (*above, id(data)))


def compare_dicts(
    old: Mapping[object, object] | None = None, new: Mapping[object, object] | None = None
) -> dict[object, object]:
    """Keys that differ, each with its ``old`` and ``new`` value; a missing value is an empty string."""
    before, after = old or {}, new or {}
    return {
        key: {"old": before.get(key, ""), "new": after.get(key, "")}
        for key in [*before, *(key for key in after if key not in before)]
        if key not in before or key not in after or before[key] != after[key]
    }


def compare_lists(
    old: Iterable[object] | None = None, new: Iterable[object] | None = None
) -> dict[str, list[object]]:
    """The values that only ``new`` and only ``old`` has; an empty mapping if there are none."""
    before, after = list(old or ()), list(new or ())
    found = {
        "new": [item for item in after if item not in before],
        "old": [item for item in before if item not in after],
    }
    return {side: items for side, items in found.items() if items}


def sorted_ignorecase(to_sort: Iterable[object]) -> list[object]:
    return sorted(to_sort, key=lambda item: str(item).lower())


def substring_in_list(string_to_search_for: str, list_to_search: Iterable[str]) -> bool:
    return any(string_to_search_for in text for text in list_to_search)


def equal(value: object, other: object) -> bool:
    return bool(value == other)


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_iter(thing: object, ignore: tuple[type, ...] = (str,)) -> bool:
    """True if it can be iterated; text counts only if ``ignore`` says so."""
    return isinstance(thing, Iterable) and not isinstance(thing, tuple(ignore))


def exactly_n_true(iterable: Iterable[object], amount: int = 1) -> bool:
    return sum(map(bool, iterable)) == amount


def exactly_one_true(iterable: Iterable[object]) -> bool:
    return exactly_n_true(iterable)


def to_entries(data: Mapping[object, object] | Sequence[object]) -> list[dict[str, object]]:
    """``[{'key': …, 'value': …}, …]`` from a mapping, or from a list with its indexes as keys."""
    if isinstance(data, Mapping):
        return [{"key": key, "value": value} for key, value in data.items()]
    if isinstance(data, list | tuple):
        return [{"key": key, "value": value} for key, value in enumerate(data)]
    raise TypeError(f"needs a mapping or a list, not {type(data).__name__}")


_KEYS = ("key", "Key", "name", "Name")
_VALUES = ("value", "Value")


def from_entries(entries: Iterable[Mapping[str, object]]) -> dict[object, object]:
    """A mapping from ``[{'key': …, 'value': …}, …]``; ``name`` works like ``key``.

    Entries without a key are left out.
    """
    if isinstance(entries, Mapping) or not is_iter(entries):
        raise TypeError("needs a list of entries such as {'key': 'a', 'value': 1}")
    made = {}
    for entry in entries:
        key = next((entry[name] for name in _KEYS if entry.get(name)), None)
        if key is not None:
            made[key] = next((entry[name] for name in _VALUES if name in entry), None)
    return made


def random_sample(value: Sequence[object], size: int, seed: object = None) -> list[object]:
    """``size`` members of a list; always the same for the same ``seed``."""
    import hashlib
    import random

    # Seeded as in Salt, so that files with Salt's samples do not change.
    chance = random.Random(None if seed is None else hashlib.sha512(str(seed).encode()).hexdigest())
    return chance.sample(value, size)


def random_shuffle(value: Sequence[object], seed: object = None) -> list[object]:
    return random_sample(value, len(value), seed)


def _encode(data: object, encoding: str, errors: str, tuples: bool) -> object:
    if isinstance(data, str):
        return data.encode(encoding, errors)
    if isinstance(data, Mapping):
        return {
            _encode(k, encoding, errors, tuples): _encode(v, encoding, errors, tuples)
            for k, v in data.items()
        }
    if isinstance(data, list | tuple):
        items = [_encode(item, encoding, errors, tuples) for item in data]
        return tuple(items) if tuples and isinstance(data, tuple) else items
    return data


def json_encode_dict(
    data: Mapping[Any, Any],
    encoding: str | None = None,
    errors: str = "strict",
    keep: bool = False,  # noqa: ARG001
    preserve_dict_class: bool = False,  # noqa: ARG001
    preserve_tuples: bool = False,
) -> dict[Any, Any]:
    """The data with all text as bytes. The unused arguments are Salt's, for templates that pass them."""
    made = _encode(data, encoding or "utf-8", errors, preserve_tuples)
    assert isinstance(made, dict)
    return made


def json_encode_list(
    data: Iterable[object],
    encoding: str | None = None,
    errors: str = "strict",
    keep: bool = False,  # noqa: ARG001
    preserve_dict_class: bool = False,  # noqa: ARG001
    preserve_tuples: bool = False,
) -> list[object]:
    """The data with all text as bytes. The unused arguments are Salt's, for templates that pass them."""
    return [_encode(item, encoding or "utf-8", errors, preserve_tuples) for item in data]


json_decode_dict = json_encode_dict  # as in Salt, both directions return bytes
json_decode_list = json_encode_list


def mysql_to_dict(data: Iterable[str], key: str) -> dict[object, dict[str, object]]:
    """The table that the mysql client prints: rows by the value in the column ``key``."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in data if line.startswith("|")]
    if not rows:
        return {}
    header, *body = rows
    made = [dict(zip(header, map(_number, row), strict=False)) for row in body]
    return {row[key]: row for row in made if key in row}


def method_call(obj: object, f_name: str, *f_args: object, **f_kwargs: object) -> object:
    """Call a method of ``obj`` by name; None if it does not exist. The limits of the sandbox apply."""
    from jinja2.sandbox import is_internal_attribute

    if f_name.startswith("_") or f_name in ("format", "format_map") or is_internal_attribute(obj, f_name):
        raise ValueError(f"the method {f_name!r} may not be called from a template")
    method = getattr(obj, f_name, None)
    if method is None:
        return None
    if getattr(method, "unsafe_callable", False) or getattr(method, "alters_data", False):
        raise ValueError(f"the method {f_name!r} may not be called from a template")
    return method(*f_args, **f_kwargs)


def skip(_data: object) -> str:
    """Always an empty text."""
    return ""
