"""A database of each kind that a controller can have, empty and migrated: the same tests run on both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.fleet.databases import postgresql_address, server_address, sqlite_address
from tests.postgres_server import Server, running_server

pytest.importorskip("sqlalchemy", reason="needs the extra `controller`")

from saltern.fleet.store.database import Database, open_database

KINDS = ("sqlite", "postgresql")
_numbers = count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'fleet.db'}"
    server: Server = request.getfixturevalue("server")
    name = new_name()
    server.psql(f"CREATE DATABASE {name}")
    return server_address(server, name)


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database that has all tables."""
    if request.param == "sqlite":
        found = sqlite_address(tmp_path / "fleet.db")
    else:
        found = postgresql_address(request.getfixturevalue("server"), new_name())
    database = open_database(found)
    yield database
    database.close()


def new_name() -> str:
    return f"fleet{next(_numbers)}"
