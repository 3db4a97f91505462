"""Data as TOML text. The standard library only reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saltern.modules.api.refused import Refused


def dump(data: Mapping[object, object]) -> str:
    return "".join(_table(data, ())).lstrip("\n")


def _table(data: Mapping[object, object], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table, plain values first: they cannot follow the header of a sub-table."""
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in data.items() if key not in tables and _is_tables(value)}
    for key, value in data.items():
        if key not in tables and key not in lists:
            yield f"{_key(key)} = {_value(value)}\n"
    for key, value in tables.items():
        inner = (*path, _key(key))
        yield f"\n[{'.'.join(inner)}]\n"
        yield from _table(value, inner)
    for key, items in lists.items():
        assert isinstance(items, list)
        inner = (*path, _key(key))
        for item in items:
            yield f"\n[[{'.'.join(inner)}]]\n"
            yield from _table(item, inner)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: object) -> str:
    text = str(key)
    bare = text and all(char.isascii() and (char.isalnum() or char in "-_") for char in text)
    return text if bare else _quote(text)


def _quote(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())} }}"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise Refused(f"TOML cannot represent {value!r}")
