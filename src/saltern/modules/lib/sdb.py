"""``sdb://PROFILE/KEY``: values out of stores that the configuration names. Each is secret."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from saltern.language import secrets

PREFIX = "sdb://"
Config = Mapping[str, Any]


class SdbError(Exception):
    """A store that cannot be asked; the text holds no value of it."""


def is_uri(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def get(uri: str, opts: Config) -> object:
    """The value; the address itself if the configuration has no such profile, as in Salt."""
    profile, _, key = uri.removeprefix(PREFIX).partition("/")
    config = opts.get(profile)
    if not isinstance(config, Mapping) or "driver" not in config:
        return uri
    driver = DRIVERS.get(str(config["driver"]))
    if driver is None:
        raise SdbError(
            f"the profile {profile!r} has the driver {config['driver']!r}; there are {', '.join(DRIVERS)}"
        )
    value = driver(key, config, opts)
    secrets.add(value)
    return value


def resolved(value: Any, opts: Config) -> Any:
    """The data with the values that its addresses stand for; the very same object if it has none."""
    if is_uri(value):
        return get(value, opts)
    if isinstance(value, Mapping):
        made = {key: resolved(inner, opts) for key, inner in value.items()}
        if all(made[key] is inner for key, inner in value.items()):
            return value
        copy = value.copy() if isinstance(value, dict) else {}
        copy.update(made)
        return copy
    if isinstance(value, list):
        items = [resolved(inner, opts) for inner in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


# -- drivers -------------------------------------------------------------------------------------------


def _env(key: str, _config: Config, _opts: Config) -> object:
    return os.environ.get(key)


def _yaml(key: str, config: Config, opts: Config) -> object:
    """A path of keys in YAML files, of which the later win; ``gpg: true`` decrypts them."""
    data: Any = {}
    for path in config.get("files") or ():
        data = _over(data, _yaml_file(str(path), config, opts), bool(config.get("merge")))
    for part in key.split(":"):
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def _over(base: Any, more: Any, merges: bool) -> Any:
    if not isinstance(more, Mapping):
        return base
    if not merges:
        return {**base, **more}
    from saltern.language.merge import merge

    return merge(base, more, strategy="recurse", merge_lists=False)


def _yaml_file(path: str, config: Config, opts: Config) -> object:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        data = read(text)
    except OSError as problem:
        raise SdbError(f"the file {path} cannot be read: {problem.strerror}") from None
    except (YamlProblem, ValueError):
        raise SdbError(f"the file {path} is no YAML") from None
    if not config.get("gpg"):
        return data
    from saltern.render.document import Job
    from saltern.render.gpg import gpg

    return gpg(data, Job(env="base", sls="", name=path, file=path, values={"opts": opts}, source=text))


def _sqlite3(key: str, config: Config, _opts: Config) -> object:
    """Values as Salt stores them, in MessagePack, or as they are."""
    from contextlib import closing
    from sqlite3 import Error, connect

    path, table = str(config.get("database") or ""), str(config.get("table") or "sdb")
    if not os.path.isfile(path) or not table.isidentifier():
        raise SdbError(f"there is no database {path!r} with a table {table!r}")
    query = str(config.get("get_query") or f"SELECT value FROM {table} WHERE key=:key")
    try:
        with closing(connect(path, timeout=30)) as database:
            row = database.execute(query, {"key": key}).fetchone()
    except Error as problem:
        raise SdbError(f"the database {path} cannot be read: {problem}") from None
    return None if row is None else _unpacked(row[0])


def _unpacked(value: object) -> object:
    import msgspec

    if not isinstance(value, bytes):
        return value
    try:
        return msgspec.msgpack.decode(value)
    except msgspec.DecodeError:
        return value.decode("utf-8", "surrogateescape")


def _vault(key: str, config: Config, opts: Config) -> object:
    """``PATH?KEY``, or ``PATH/KEY``, of the server that the profile or ``vault`` describes."""
    from saltern.system.vault import Vault, VaultError

    mark = "?" if "?" in key else "/"
    path, _, name = key.rpartition(mark)
    own = {word: value for word, value in config.items() if word not in ("driver", "path")}
    try:
        client = Vault(own if own else opts.get("vault") or {})
        secrets.add(client.credentials)
        return client.read(path).get(name)
    except VaultError as problem:
        raise SdbError(str(problem)) from None


def _keyring(key: str, config: Config, _opts: Config) -> object:
    try:
        from keyring import get_password
    except ImportError:
        raise SdbError("the driver 'keyring' needs the Python package keyring: pip install keyring") from None
    value: object = get_password(str(config.get("service") or "salt"), key)
    return value


DRIVERS: dict[str, Callable[[str, Config, Config], object]] = {
    "env": _env,
    "yaml": _yaml,
    "sqlite3": _sqlite3,
    "vault": _vault,
    "keyring": _keyring,
}


def addresses(value: object) -> Iterator[str]:
    """All addresses in data."""
    if is_uri(value):
        yield str(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from addresses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from addresses(inner)
