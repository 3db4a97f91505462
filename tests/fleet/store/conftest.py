"""A database of each kind that a controller can have, empty and migrated: the same tests run on both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.postgres_server import Server, running_server

pytest.importorskip("sqlalchemy", reason="needs the extra `controller`")

from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate

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
    name = f"fleet{next(_numbers)}"
    server.psql(f"CREATE DATABASE {name}")
    return f"postgresql://postgres@/{name}?host={server.place}&port={server.port}"


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    database = open_database(address)
    migrate(database)
    yield database
    database.close()
