"""The drivers of ``sdb://``: each is a row with its operations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import msgspec
from msgspec import Struct

from saltern.language import secrets

Config = Mapping[str, Any]


class SdbError(Exception):
    """A store cannot be used; the text contains no value of it. ``uri`` is the address."""

    uri = ""


class Driver(Struct, frozen=True, kw_only=True):
    """The operations, called with the key, the profile and the options; ``put`` with the value after the
    key.
    """

    get: Callable[[str, Config, Config], object]
    put: Callable[[str, object, Config, Config], object] | None = None
    delete: Callable[[str, Config, Config], object] | None = None


def _env(key: str, _config: Config, _opts: Config) -> object:
    return os.environ.get(key)


def _put_env(key: str, value: object, _config: Config, _opts: Config) -> object:
    """Set a variable of this process; an existing one stays, as in Salt."""
    return os.environ.setdefault(key, str(value))


def _yaml(key: str, config: Config, opts: Config) -> object:
    """A path of keys in YAML files, merged as ``merge`` says; ``gpg: true`` decrypts them."""
    data: Any = {}
    for path in config.get("files") or ():
        data = _over(data, _yaml_file(str(path), config, opts), config.get("merge"))
    for part in key.split(":"):
        if isinstance(data, list) and part.isdigit() and int(part) < len(data):
            data = data[int(part)]
        else:
            data = data.get(part) if isinstance(data, Mapping) else None
    return data


def _over(base: Any, more: Any, how: object) -> Any:
    if not isinstance(more, Mapping):
        return base
    from saltern.language.merge import merge

    words = how if isinstance(how, Mapping) else {}
    lists = bool(words.get("merge_lists", words.get("merge_list")))
    return merge(base, more, strategy=str(words.get("strategy") or "smart"), merge_lists=lists)


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
        raise SdbError(f"the file {path} is not YAML") from None
    if not config.get("gpg"):
        return data
    from saltern.render.document import Job
    from saltern.render.gpg import gpg

    return gpg(data, Job(env="base", sls="", name=path, file=path, values={"opts": opts}, source=text))


def _sqlite3(key: str, config: Config, _opts: Config) -> object:
    """A value, stored in MessagePack as in Salt, or plain."""
    path, table = _database(config)
    if not os.path.isfile(path):
        raise SdbError(f"there is no database {path!r}")
    query = str(config.get("get_query") or f"SELECT value FROM {table} WHERE key=:key")
    with _connect(path) as database:
        row = database.execute(query, {"key": key}).fetchone()
    return None if row is None else _unpack(row[0])


def _put_sqlite3(key: str, value: object, config: Config, _opts: Config) -> object:
    """Store a value in the table, which is created if it is missing."""
    path, table = _database(config)
    usual = f"INSERT OR REPLACE INTO {table} (key, value) VALUES (:key, :value)"
    with _connect(path) as database:
        if not config.get("set_query"):
            database.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, value BLOB)")
        given = {"key": key, "value": msgspec.msgpack.encode(value)}
        database.execute(str(config.get("set_query") or usual), given)
        database.commit()
    return True


def _delete_sqlite3(key: str, config: Config, _opts: Config) -> object:
    path, table = _database(config)
    with _connect(path) as database:
        gone = database.execute(f"DELETE FROM {table} WHERE key=:key", {"key": key}).rowcount
        database.commit()
    return gone > 0


def _database(config: Config) -> tuple[str, str]:
    path, table = str(config.get("database") or ""), str(config.get("table") or "sdb")
    if not path or not table.isidentifier():
        raise SdbError(f"there is no database {path!r} with a table {table!r}")
    return path, table


@contextmanager
def _connect(path: str) -> Iterator[Any]:
    from sqlite3 import Error, connect

    try:
        with closing(connect(path, timeout=30)) as database:
            yield database
    except Error as problem:
        raise SdbError(f"the database {path} cannot be used: {problem}") from None


def _unpack(value: object) -> object:
    if not isinstance(value, bytes):
        return value
    try:
        return msgspec.msgpack.decode(value)
    except msgspec.DecodeError:
        return value.decode("utf-8", "surrogateescape")


def _vault(key: str, config: Config, opts: Config) -> object:
    """The value of ``PATH?KEY`` or ``PATH/KEY`` on the server of the profile or of ``vault``; all values of
    ``PATH/KEY`` if there is nothing at the path, as in Salt."""
    path, name = _vault_path(key)
    with _server(config, opts) as client:
        found = client.find(path)
        if found is None:
            return None if "?" in key else client.find(key)
        return found.get(name)


def _put_vault(key: str, value: object, config: Config, opts: Config) -> object:
    """Store a value; with ``patch: true`` in the profile, other values at the path stay."""
    path, name = _vault_path(key)
    with _server(config, opts) as client:
        before = client.find(path) if config.get("patch") else None
        client.write(path, {**(before or {}), name: value})
    return True


def _delete_vault(key: str, config: Config, opts: Config) -> object:
    """Remove a value, and the path if it has no other."""
    path, name = _vault_path(key)
    with _server(config, opts) as client:
        before = client.find(path) or {}
        rest = {one: value for one, value in before.items() if one != name}
        if name in before:
            client.write(path, rest) if rest else client.remove(path)
    return name in before


def _vault_path(key: str) -> tuple[str, str]:
    path, _, name = key.rpartition("?" if "?" in key else "/")
    return path, name


@contextmanager
def _server(config: Config, opts: Config) -> Iterator[Any]:
    from saltern.system.vault import VaultError, client_of

    own = {word: value for word, value in config.items() if word not in ("driver", "path", "patch")}
    try:
        client = client_of(own if own else opts.get("vault") or {})
        secrets.add(client.credentials)
        yield client
    except VaultError as problem:
        raise SdbError(str(problem)) from None


def _keyring(key: str, config: Config, _opts: Config) -> object:
    with _ring() as ring:
        value: object = ring.get_password(_service(config), key)
    return value


def _put_keyring(key: str, value: object, config: Config, _opts: Config) -> object:
    with _ring() as ring:
        ring.set_password(_service(config), key, str(value))
    return True


def _delete_keyring(key: str, config: Config, _opts: Config) -> object:
    with _ring() as ring:
        known = ring.get_password(_service(config), key) is not None
        if known:
            ring.delete_password(_service(config), key)
    return known


def _service(config: Config) -> str:
    return str(config.get("service") or "salt")


@contextmanager
def _ring() -> Iterator[Any]:
    """The key ring of this user; errors have a readable message."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise SdbError("the driver 'keyring' needs the Python package keyring: pip install keyring") from None
    try:
        yield keyring
    except KeyringError as problem:
        why = str(problem).partition(". ")[0] or type(problem).__name__
        raise SdbError(f"the key ring of this user cannot be used: {why}") from None


DRIVERS: dict[str, Driver] = {
    "env": Driver(get=_env, put=_put_env),
    "yaml": Driver(get=_yaml),
    "sqlite3": Driver(get=_sqlite3, put=_put_sqlite3, delete=_delete_sqlite3),
    "vault": Driver(get=_vault, put=_put_vault, delete=_delete_vault),
    "keyring": Driver(get=_keyring, put=_put_keyring, delete=_delete_keyring),
}
