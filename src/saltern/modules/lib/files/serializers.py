"""Formats for ``file.serialize``: data to text and back, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused

Options = Mapping[str, object]


class Format(Struct, frozen=True):
    write: Callable[[object, Options], str | bytes]
    read: Callable[[str, Options], object] | None = None


def _to_json(data: object, options: Options) -> str:
    import json

    usual = {"indent": 2, "sort_keys": True, "separators": (",", ": "), "ensure_ascii": False}
    chosen: dict[str, object] = {**usual, **options}
    if isinstance(chosen["separators"], list):
        chosen["separators"] = tuple(chosen["separators"])
    return json.dumps(data, **chosen)  # type: ignore[arg-type]


def _from_json(text: str, _options: Options) -> object:
    import json

    return json.loads(text)


def _to_yaml(data: object, options: Options) -> str:
    import yaml

    chosen: dict[str, Any] = {"default_flow_style": False, **options}
    written: str = yaml.safe_dump(_plain(data), **chosen)
    return written.removesuffix("...\n")  # added by PyYAML to a bare value


def _from_yaml(text: str, _options: Options) -> object:
    from saltern.render.yaml import read

    return read(text)


def _plain(data: object) -> Any:
    """The data in plain containers, which the YAML library needs."""
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return data


def _to_toml(data: object, _options: Options) -> str:
    if not isinstance(data, Mapping):
        raise Refused("TOML needs a mapping at the top")
    from saltern.modules.lib.files.toml import dump

    return dump(data)


def _from_toml(text: str, _options: Options) -> object:
    import tomllib

    return tomllib.loads(text)


def _to_ini(data: object, options: Options) -> str:
    from configparser import ConfigParser

    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_dict(_sections(data))
    out = StringIO()
    parser.write(out, space_around_delimiters=bool(options.get("space_around_delimiters", True)))
    return out.getvalue() + "\n"  # an extra newline, as in Salt, so that both write the same file


def _sections(data: object) -> dict[str, dict[str, object]]:
    if isinstance(data, Mapping) and all(isinstance(inner, Mapping) for inner in data.values()):
        return {str(name): dict(inner) for name, inner in data.items()}
    raise Refused("configparser needs {section: {key: value}}")


def _from_ini(text: str, _options: Options) -> object:
    from configparser import ConfigParser

    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def _to_pairs(data: object, options: Options) -> str:
    if not isinstance(data, Mapping):
        raise Refused("keyvalue needs a mapping")
    separator = str(options.get("separator", "="))
    quoting = str(options.get("quoting") or "")
    return "\n".join(f"{key}{separator}{quoting}{value}{quoting}" for key, value in data.items())


def _from_pairs(text: str, options: Options) -> object:
    separator = str(options.get("separator", "="))
    pairs = (line.partition(separator) for line in text.splitlines() if separator in line)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def _to_plist(data: object, options: Options) -> str:
    import plistlib

    return plistlib.dumps(_plain(data), sort_keys=bool(options.get("sort_keys", True))).decode()


def _from_plist(text: str, _options: Options) -> object:
    import plistlib

    return plistlib.loads(text.encode())


def _to_msgpack(data: object, _options: Options) -> bytes:
    from msgspec.msgpack import encode

    return encode(_plain(data))


def _to_python(data: object, _options: Options) -> str:
    from pprint import pformat

    return pformat(_plain(data))


FORMATS: dict[str, Format] = {
    "configparser": Format(_to_ini, _from_ini),
    "json": Format(_to_json, _from_json),
    "keyvalue": Format(_to_pairs, _from_pairs),
    "msgpack": Format(_to_msgpack),
    "plist": Format(_to_plist, _from_plist),
    "python": Format(_to_python),
    "toml": Format(_to_toml, _from_toml),
    "yaml": Format(_to_yaml, _from_yaml),
    "yamlex": Format(_to_yaml, _from_yaml),
}
