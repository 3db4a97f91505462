"""Databases with all tables and no rows: migrated once by each process, and copied for each test."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.postgres_server import Server

from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate

TEMPLATE = "migrated"


def sqlite_address(file: Path) -> str:
    """The address of a database in this file, which is made if it is missing."""
    if not file.exists():
        file.write_bytes(_tables())
    return f"sqlite:///{file}"


def sqlite_database(file: Path) -> Database:
    """The same, opened."""
    return open_database(sqlite_address(file))


@cache
def _tables() -> bytes:
    """The file that is copied."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "fleet.db"
        _migrate(f"sqlite:///{file}")
        return file.read_bytes()


def postgresql_address(server: Server, name: str) -> str:
    """The address of a new database of this server."""
    server.psql(f"CREATE DATABASE {name} TEMPLATE {_template(server)}")
    return server_address(server, name)


def server_address(server: Server, name: str) -> str:
    return f"postgresql://postgres@/{name}?host={server.place}&port={server.port}"


@cache
def _template(server: Server) -> str:
    """The name of the database that is copied."""
    server.psql(f"CREATE DATABASE {TEMPLATE}")
    _migrate(server_address(server, TEMPLATE))
    return TEMPLATE


def _migrate(address: str) -> None:
    database = open_database(address)
    migrate(database)
    database.close()
