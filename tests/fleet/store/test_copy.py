"""A database moves from SQLite to PostgreSQL and back: every row, and the numbers continue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.fleet.store.test_systems import finished, request
from tests.postgres_server import Server

from saltern.fleet.controller.move import move_database
from saltern.fleet.controller.paths import ControllerPaths, controller_paths
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.store import audit, events, systems
from saltern.fleet.store.approvals import OPEN, Vote, add_approval, vote
from saltern.fleet.store.copy import copy_database
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.groups import set_group
from saltern.fleet.store.migrate import migrate
from saltern.fleet.store.policies import add_policy
from saltern.fleet.store.tables import METADATA
from saltern.language.diagnostics import OperationError


@pytest.fixture
def postgresql(server: Server) -> Iterator[str]:
    server.psql("DROP DATABASE IF EXISTS moved")
    server.psql("CREATE DATABASE moved")
    yield f"postgresql://postgres@/moved?host={server.place}&port={server.port}"


def content(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.read() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in METADATA.sorted_tables
        }


def fill(database: Database) -> None:
    migrate(database)
    for number in range(1203):  # more than one page
        finished(database, f"j{number}", 1.0) if number < 3 else None
    with database.write() as connection:
        some = [
            events.NewEvent(tag=f"t{n}", data={"n": n, "text": "ü\N{PILE OF POO}"}, at=1.5)
            for n in range(1203)
        ]
        events.store_events(connection, some)
        one = systems.Applicant(id="web1", key=bytes(32), sealing_key=bytes(range(32)), fingerprint="f")
        systems.enrol(connection, one, 1.0, accept_by="joe")
        set_group(connection, "g", "web*")
        add_policy(connection, "rules: []", source="api", who="joe", now=1.0)
        add_approval(connection, request("r", 1.0, OPEN))
        vote(connection, "r", Vote(who="eve", approves=False, at=2.0, why="no"))
        for number in range(5):
            audit.append(connection, "joe", "x", {"n": number}, 1.0)


def new(path: Path) -> str:
    return f"sqlite:///{path}"


def test_all_rows_arrive_and_new_ones_follow_them(tmp_path: Path, postgresql: str) -> None:
    paths: ControllerPaths = controller_paths(str(tmp_path / "c"))
    first = open_database(new(tmp_path / "first.db"))
    fill(first)
    before = content(first)
    settings = ControllerSettings(database=new(tmp_path / "first.db"))
    moved = move_database(paths, settings, postgresql, now=5.0)
    assert moved.rows == sum(map(len, before.values()))
    second = open_database(postgresql)
    after = content(second)
    assert {name: rows for name, rows in after.items() if name != "audit"} == {
        name: rows for name, rows in before.items() if name != "audit"
    }
    with second.write() as connection:
        newest = events.newest_event(connection)
        events.store_events(connection, [events.NewEvent(tag="later", data={}, at=2.0)])
        assert events.newest_event(connection) == newest + 1
        assert audit.verify(connection) == ""
    expected = content(second)
    move_database(paths, ControllerSettings(database=postgresql), new(tmp_path / "third.db"), now=6.0)
    third = open_database(new(tmp_path / "third.db"))
    found = content(third)
    assert len(found.pop("audit")) == len(expected.pop("audit")) + 1
    assert found == expected
    for database in (first, second, third):
        database.close()


def test_a_database_with_rows_and_the_same_one_are_refused_and_nothing_changes(tmp_path: Path) -> None:
    first, second = open_database(new(tmp_path / "a.db")), open_database(new(tmp_path / "b.db"))
    fill(first)
    fill(second)
    before = content(second)
    with pytest.raises(OperationError, match="not empty"):
        copy_database(first, second)
    assert content(second) == before
    settings = ControllerSettings(database=new(tmp_path / "a.db"))
    with pytest.raises(OperationError, match="already"):
        move_database(controller_paths(str(tmp_path)), settings, new(tmp_path / "a.db"), now=1.0)
    first.close()
    second.close()
