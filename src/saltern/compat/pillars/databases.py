"""``sqlite3``, ``postgres`` and ``mysql``: rows of queries as nested mappings.

A query has one placeholder, for the name of the machine. The first columns of a row are keys, one below the
other, down to ``depth``; the last column is the value, or those that are left are a mapping by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from msgspec import Struct

from saltern.compat.pillars.ports import Asked, SourceError
from saltern.language import secrets
from saltern.language.merge import merge

Row = Sequence[Any]


class Query(Struct, frozen=True, kw_only=True):
    """One query, and what its rows become. ``with_lists``: columns, from 1, whose values become a list."""

    query: str
    depth: int = 0
    as_list: bool = False
    as_json: bool = False
    with_lists: tuple[int, ...] = ()
    ignore_null: bool = False


def queries(given: object) -> list[tuple[str, Query]]:
    """The queries of an entry, each with the key below which its rows are; empty: none."""
    if isinstance(given, Mapping):
        return [(str(key), one) for key in sorted(given) if (one := _query(given[key])) is not None]
    found: list[tuple[str, Query]] = []
    for entry in given if isinstance(given, list) else [given]:
        if isinstance(entry, Mapping) and "query" not in entry:
            found += queries(entry)
        elif (made := _query(entry)) is not None:
            found.append(("", made))
    return found


def _query(value: Any) -> Query | None:
    if isinstance(value, str):
        return Query(query=value) if value else None
    if isinstance(value, list) and value:
        return Query(query=str(value[0]), depth=int(value[1]) if len(value) > 1 else 0)
    if not isinstance(value, Mapping) or not value.get("query"):
        return None
    lists = value.get("with_lists") or ()
    numbers = lists.split(",") if isinstance(lists, str) else lists
    known = {
        name: value[name] for name in ("query", "depth", "as_list", "as_json", "ignore_null") if name in value
    }
    return Query(**known, with_lists=tuple(int(number) for number in numbers))


def nested(names: Sequence[str], rows: Sequence[Row], query: Query) -> dict[Any, Any]:
    """The rows as mappings."""
    count = len(names)
    depth = count - 1 if query.depth == 0 or query.depth >= count else query.depth
    found: dict[Any, Any] = {}
    if query.as_json and count == 1:
        return _documents(rows, query)
    for row in rows:
        _add(found, row[:depth], _values(names, row, depth), query)
    listed: dict[Any, Any] = _listed(found, query.with_lists, 1)
    return listed


def _values(names: Sequence[str], row: Row, depth: int) -> Any:
    """What a row has below its keys: one value, or a mapping of several."""
    return row[-1] if depth == len(names) - 1 else dict(zip(names[depth:], row[depth:], strict=True))


def _add(found: dict[Any, Any], keys: Row, value: Any, query: Query) -> None:
    for key in keys[:-1]:
        inner = found.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = {}
            found[key] = [found[key], inner] if query.as_list else inner
        found = inner
    last = keys[-1] if keys else None
    if isinstance(value, dict):
        target = found.setdefault(last, {})
        for name, one in value.items():
            _put(target, name, one, query, listed=False)
    else:
        _put(found, last, value, query, listed=len(keys) in query.with_lists)


def _put(found: dict[Any, Any], key: Any, value: Any, query: Query, *, listed: bool) -> None:
    if (query.as_list and key in found) or listed:
        before = found.get(key, [])
        found[key] = [*(before if isinstance(before, list) else [before]), value]
    elif not query.ignore_null or value is not None:
        found[key] = value


def _documents(rows: Sequence[Row], query: Query) -> dict[Any, Any]:
    """One column that is a JSON document."""
    import json

    found: dict[Any, Any] = {}
    for (value,) in rows:
        text = bytes(value).decode() if isinstance(value, bytes | memoryview) else value
        data = json.loads(text) if isinstance(text, str) else text
        if not isinstance(data, Mapping):
            raise SourceError("with as_json a row must be a mapping")
        made = merge(found, data, strategy="recurse", merge_lists=query.as_list)
        assert isinstance(made, dict)
        found = made
    return found


def _listed(value: Any, lists: Sequence[int], level: int) -> Any:
    """Mappings of the levels that are to be lists, from within."""
    if not isinstance(value, dict) or not lists:
        return value
    inner = {key: _listed(one, lists, level + 1) for key, one in value.items()}
    if level not in lists:
        return inner
    return {key: list(one.values()) if isinstance(one, dict) else one for key, one in inner.items()}


# -- databases -----------------------------------------------------------------------------------------


def sqlite3(asked: Asked, given: object) -> object:
    """A database in a file; ``sqlite3: {database: PATH}`` in the configuration names it."""
    import os
    from sqlite3 import Error, connect

    config = {
        "database": "/var/lib/salt/pillar.db",
        "timeout": 5.0,
        **(asked.opts.get("pillar.sqlite3") or {}),
    }
    config |= asked.opts.get("sqlite3") or {}
    if not os.path.isfile(config["database"]):
        raise SourceError(f"there is no database {config['database']}")
    try:
        with closing(connect(config["database"], timeout=float(config["timeout"]))) as database:
            return _asked(database.cursor(), asked, given)
    except Error as problem:
        raise SourceError(str(problem)) from None


def postgres(asked: Asked, given: object) -> object:
    """A database of PostgreSQL, by psycopg."""
    try:
        import psycopg
    except ImportError:
        raise SourceError("it needs the Python package psycopg: pip install 'psycopg[binary]'") from None
    config = {"host": "localhost", "user": "salt", "pass": "salt", "db": "salt", "port": 5432}
    config |= asked.opts.get("postgres") or {}
    secrets.add(config["pass"] if config["pass"] != config["user"] else None)
    try:
        with psycopg.connect(
            host=str(config["host"]),
            user=str(config["user"]),
            password=str(config["pass"]),
            dbname=str(config["db"]),
            port=int(str(config["port"])),
            connect_timeout=30,
        ) as database:
            return _asked(database.cursor(), asked, given)
    except psycopg.Error as problem:
        raise SourceError(str(problem).strip().partition("\n")[0]) from None


def mysql(asked: Asked, given: object) -> object:
    """A database of MySQL or MariaDB, by PyMySQL or mysqlclient."""
    driver = _mysql_driver()
    config = {"host": "localhost", "user": "salt", "pass": "salt", "db": "salt", "port": 3306}
    config |= asked.opts.get("mysql") or {}
    secrets.add(config["pass"] if config["pass"] != config["user"] else None)
    socket = {"unix_socket": config["unix_socket"]} if config.get("unix_socket") else {}
    try:
        database = driver.connect(
            host=config["host"],
            user=config["user"],
            password=config["pass"],
            database=config["db"],
            port=int(str(config["port"])),
            connect_timeout=30,
            **socket,
        )
        with closing(database):
            return _asked(database.cursor(), asked, given)
    except driver.Error as problem:
        raise SourceError(str(problem.args[-1] if problem.args else problem)) from None


def _mysql_driver() -> Any:
    from importlib import import_module

    for name in ("pymysql", "MySQLdb"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise SourceError("it needs the Python package pymysql: pip install pymysql")


def _asked(cursor: Any, asked: Asked, given: object) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, query in queries(given):
        cursor.execute(query.query, (asked.id,))
        names = [str(column[0]) for column in cursor.description or ()]
        made = nested(names, list(_plain_rows(cursor.fetchall())), query)
        merged = merge(found, {key: made} if key else made, strategy="recurse", merge_lists=False)
        assert isinstance(merged, dict)
        found = merged
    return found


def _plain_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Values as pillar can have them: what is neither text, number, list nor mapping becomes text."""
    plain = (str, int, float, bool, bytes, dict, list, type(None))
    for row in rows:
        yield tuple(value if isinstance(value, plain) else str(value) for value in row)
