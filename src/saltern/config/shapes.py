"""Convert a value as written, or a text as typed, to the shape of an option.

A reader raises ``ValueError`` for a value that does not fit; the loader then says what is needed.
Every value may be text, since environment variables are.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from saltern.config import options

REMOTE = "git+"  # the prefix of a root that is a git repository
_FLAGS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def _text(value: object) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError


def _optional_text(value: object) -> str | None:
    return _text(value) or None


def _flag(value: object) -> bool:
    try:
        return _FLAGS[str(value).strip().lower()]
    except KeyError:
        raise ValueError from None


def _number(value: object) -> int:
    number = int(_text(value))
    if number < 0 or (isinstance(value, float) and value != number):
        raise ValueError
    return number


def _number_or_none(value: object) -> int | None:
    if value is None or str(value).lower() in ("none", "null", "~"):
        return None
    number = _number(value)
    if number == 0:
        raise ValueError
    return number


def _seconds(value: object) -> float:
    seconds = float(_text(value))
    if not 0 <= seconds < float("inf"):
        raise ValueError
    return seconds


def _texts(value: object) -> list[str]:
    if isinstance(value, str) and value.startswith("["):
        value = _json(value)
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple):
        return [str(part) if isinstance(part, bool) or part is None else _text(part) for part in value]
    return [_text(value)]


def _mapping(value: object) -> dict[str, object]:
    if isinstance(value, str):
        value = _json(value)
    if not isinstance(value, dict):
        raise ValueError
    return {str(key): inner for key, inner in value.items()}


def _paths(value: object) -> list[str]:
    if isinstance(value, str) and not value.startswith("["):
        return [value] if value.startswith(REMOTE) else [part for part in value.split(os.pathsep) if part]
    return _texts(value)


def _roots(value: object) -> dict[str, list[str]]:
    """A mapping of roots; a list of directories is for ``base``."""
    if isinstance(value, str) and not value.startswith("{"):
        value = _paths(value)
    if isinstance(value, list | tuple):
        return {"base": _paths(value)}
    return {env: [] if inner is None else _paths(inner) for env, inner in _mapping(value).items()}


def _flag_or_text(value: object) -> bool | str:
    try:
        return _flag(value)
    except ValueError:
        return _text(value)


def _flag_or_texts(value: object) -> bool | list[str]:
    try:
        return _flag(value)
    except ValueError:
        return _texts(value)


def _json(text: str) -> object:
    import msgspec.json

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise ValueError from None


SHAPES: dict[str, Callable[[object], object]] = {
    options.TEXT: _text,
    options.OPTIONAL_TEXT: _optional_text,
    options.FLAG: _flag,
    options.NUMBER: _number,
    options.NUMBER_OR_NONE: _number_or_none,
    options.SECONDS: _seconds,
    options.TEXTS: _texts,
    options.MAPPING: _mapping,
    options.PATH: _text,
    options.PATHS: _paths,
    options.ROOTS: _roots,
    options.FLAG_OR_TEXT: _flag_or_text,
    options.FLAG_OR_TEXTS: _flag_or_texts,
}


def _whole(path: str, base: str) -> str:
    """``path`` relative to ``base`` as an absolute path, with ``~`` expanded."""
    if not path or path.startswith(REMOTE):
        return path
    return os.path.normpath(os.path.join(base, os.path.expanduser(path)))


def _unglob(paths: list[str]) -> list[str]:
    """Expand patterns among roots (``/srv/formulas/*``) to their current matches, sorted."""
    if not any(mark in path for path in paths for mark in "*?[" if not path.startswith(REMOTE)):
        return paths
    from glob import glob

    return [
        found
        for path in paths
        for found in ([path] if os.path.isdir(path) or not set("*?[") & set(path) else sorted(glob(path)))
    ]


def place(value: object, shape: str, base: str) -> object:
    """``value`` with relative paths made absolute; values of other shapes are unchanged."""
    if shape == options.PATH:
        return _whole(str(value), base)
    if shape == options.PATHS and isinstance(value, list):
        return [_whole(path, base) for path in value]
    if shape == options.ROOTS and isinstance(value, dict):
        return {env: _unglob([_whole(path, base) for path in paths]) for env, paths in value.items()}
    return value
