"""Data as text and back, one row per format; for ``slsutil`` and for states that write data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.modules.api.params import BadArgument

Writer = Callable[[object, Mapping[str, object]], str]
Reader = Callable[[str], object]


def _write_json(data: object, options: Mapping[str, object]) -> str:
    import json

    indent = options.get("indent")
    return json.dumps(
        data,
        indent=indent if isinstance(indent, int | str) else None,
        sort_keys=bool(options.get("sort_keys", False)),
        ensure_ascii=bool(options.get("ensure_ascii", False)),
        default=str,
    )


def _write_yaml(data: object, options: Mapping[str, object]) -> str:
    """Write YAML, sorted and with the innermost collections on one line unless the options change that, as in
    Salt.
    """
    from saltern.language.ordered import plain_mappings
    from saltern.render.filters.serialize import dump

    chosen = {"default_flow_style": None, "allow_unicode": True, "sort_keys": True, **options}
    try:
        return dump(plain_mappings(data), **chosen)
    except TypeError as problem:
        raise BadArgument(f"slsutil.serialize cannot write this as YAML: {problem}") from None


def _write_ini(data: object, _: Mapping[str, object]) -> str:
    if not isinstance(data, Mapping) or not all(isinstance(rows, Mapping) for rows in data.values()):
        raise BadArgument("an INI file needs a mapping of sections, each a mapping of options")
    parts = (
        f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())
        for section, rows in data.items()
    )
    return "\n".join(parts) + "\n"


def _write_python(data: object, _: Mapping[str, object]) -> str:
    from pprint import pformat

    return pformat(data)


def _read_json(text: str) -> object:
    from saltern.render.filters.serialize import load_json

    return _read(load_json, text)


def _read_yaml(text: str) -> object:
    from saltern.render.filters.serialize import load_yaml

    return _read(load_yaml, text)


def _read_toml(text: str) -> object:
    import tomllib

    return _read(tomllib.loads, text)


def _read_ini(text: str) -> object:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser()
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    try:
        parser.read_string(text)
    except Error as problem:
        raise BadArgument(f"wrong INI: {problem}") from None
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _read(load: Reader, text: str) -> object:
    try:
        return load(text)
    except ValueError as problem:
        raise BadArgument(str(problem)) from None


WRITERS: dict[str, Writer] = {
    "json": _write_json,
    "yaml": _write_yaml,
    "configparser": _write_ini,
    "python": _write_python,
}
READERS: dict[str, Reader] = {
    "json": _read_json,
    "yaml": _read_yaml,
    "toml": _read_toml,
    "configparser": _read_ini,
}
