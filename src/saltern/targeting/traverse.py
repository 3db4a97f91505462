"""Look up values in nested data by a path: ``a:b:0``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_MISSING = object()
_WORDS: dict[str, object] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "~", "none"), None),
}


def traverse(
    data: object, key: str | int | Sequence[str | int], default: object = None, delimiter: str = ":"
) -> object:
    """The value at ``key``, or ``default``.

    A step into a list is an index, or a key of the first mapping in it that has the key. A step
    into a mapping without that text as a key is tried again as the number or boolean that it spells.
    """
    steps = key.split(delimiter) if isinstance(key, str) else _steps(key)
    for step in steps:
        data = _into_list(data, step) if isinstance(data, list | tuple) else _into_mapping(data, step)
        if data is _MISSING:
            return default
    return data


def _steps(key: object) -> Sequence[str | int]:
    return key if isinstance(key, list | tuple) else [key]  # type: ignore[list-item]


def _into_mapping(data: object, step: str | int) -> object:
    if not isinstance(data, Mapping):
        return _MISSING
    try:
        return data[step]
    except KeyError:
        other = _yaml_value(step)
        return data.get(other, _MISSING) if other is not _MISSING else _MISSING


def _into_list(data: Sequence[object], step: str | int) -> object:
    try:
        index: int | None = int(step)
    except ValueError:
        index = None
    wanted = step if index is None else index
    for inner in data:
        if isinstance(inner, Mapping) and wanted in inner:
            return inner[wanted]
    if index is None or not -len(data) <= index < len(data):
        return _MISSING
    return data[index]


def _yaml_value(step: str | int) -> object:
    """The number, boolean or null that YAML reads in ``step``; missing if it is text."""
    if not isinstance(step, str):
        return _MISSING
    for read in (int, float):
        try:
            return read(step)
        except ValueError:
            continue
    return _WORDS.get(step.lower(), _MISSING)
