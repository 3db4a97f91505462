"""``sqlite3``, ``postgres`` and ``mysql``: rows of queries as nested mappings.

A query has one placeholder: for the name of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from saltern.compat.pillars.ports import Asked, SourceError
from saltern.compat.pillars.rows import Row, RowNest, queries
from saltern.language import secrets


def sqlite3(asked: Asked, given: object) -> object:
    """A database file, which ``sqlite3: {database: PATH}`` in the configuration names."""
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
            return _run_queries(database.cursor(), asked, given)
    except Error as problem:
        raise SourceError(str(problem)) from None


def postgres(asked: Asked, given: object) -> object:
    """A PostgreSQL database, through psycopg."""
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
            return _run_queries(database.cursor(), asked, given)
    except psycopg.Error as problem:
        raise SourceError(str(problem).strip().partition("\n")[0]) from None


def mysql(asked: Asked, given: object) -> object:
    """A MySQL or MariaDB database, through PyMySQL or mysqlclient."""
    driver = _mysql_driver()
    config = {"host": "localhost", "user": "salt", "pass": "salt", "db": "salt", "port": 3306}
    config |= asked.opts.get("mysql") or {}
    secrets.add(config["pass"] if config["pass"] != config["user"] else None)
    more = {name: config[name] for name in ("unix_socket", "charset", "ssl") if config.get(name)}
    try:
        database = driver.connect(
            host=config["host"],
            user=config["user"],
            password=config["pass"],
            database=config["db"],
            port=int(str(config["port"])),
            connect_timeout=30,
            **more,
        )
        with closing(database):
            return _run_queries(database.cursor(), asked, given)
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


def _run_queries(cursor: Any, asked: Asked, given: object) -> dict[Any, Any]:
    found = RowNest()
    for root, query in queries(given):
        cursor.execute(query.query, (asked.id,))
        names = [str(column[0]) for column in cursor.description or ()]
        found.add(root, names, list(_plain_rows(cursor.fetchall())), query)
    return found.data


def _plain_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Values for the pillar: values that are not texts, numbers, lists or mappings become texts."""
    plain = (str, int, float, bool, bytes, dict, list, type(None))
    for row in rows:
        yield tuple(value if isinstance(value, plain) else str(value) for value in row)
