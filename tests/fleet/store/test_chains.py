"""Chains in the database: versions that never change, and statuses that are those of the table."""

from __future__ import annotations

from enum import Enum

import pytest
from sqlalchemy import insert, inspect, text

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.store.chain_tables import CHAIN_RUNS
from saltern.fleet.store.chains import (
    StoredChain,
    StoredVersion,
    add_chain,
    add_version,
    chain_named,
    list_chains,
    set_archived,
    version_of,
    versions_of,
)
from saltern.fleet.store.database import Connection, Database
from saltern.language.diagnostics import OperationError

CHECKED: dict[str, type[Enum]] = {
    "chain_runs": Run,
    "chain_waves": Wave,
    "chain_legs": Leg,
    "chain_steps": Step,
    "chain_attempts": Step,
}


def _add(connection: Connection, name: str = "patch", texts: tuple[str, ...] = ("a",)) -> None:
    add_chain(connection, StoredChain(id=f"id-{name}", name=name, created=1.0, created_by="ann"))
    for number, one in enumerate(texts, 1):
        version = StoredVersion(
            chain=f"id-{name}", number=number, text=one, sha256="0" * 64, author="ann", created=1.0
        )
        add_version(connection, version)


def test_the_newest_version_is_the_one_with_the_highest_number(database: Database) -> None:
    with database.write() as connection:
        _add(connection, texts=tuple(f"text {number}" for number in range(12)))
        found = version_of(connection, "id-patch")
        assert found is not None and (found.number, found.text) == (12, "text 11")
        first = version_of(connection, "id-patch", 1)
        assert first is not None and first.text == "text 0"
        assert [one.number for one in versions_of(connection, "id-patch")] == list(range(1, 13))


def test_a_version_cannot_be_changed_by_any_statement(database: Database) -> None:
    with database.write() as connection:
        _add(connection)
    with pytest.raises(OperationError, match="never changed"), database.write() as connection:
        connection.execute(text("UPDATE chain_versions SET text = 'b'"))
    with database.read() as connection:
        assert [one.text for one in versions_of(connection, "id-patch")] == ["a"]


def test_an_archived_chain_keeps_its_name_and_is_listed_when_asked_for(database: Database) -> None:
    with database.write() as connection:
        _add(connection, "patch")
        _add(connection, "reboot")
        assert set_archived(connection, "id-patch", "bob", 2.0)
        assert not set_archived(connection, "id-patch", "bob", 3.0)
        assert [one.name for one in list_chains(connection)] == ["reboot"]
        assert [one.name for one in list_chains(connection, archived=True)] == ["patch", "reboot"]
        assert set_archived(connection, "id-patch", "bob", None)
        found = chain_named(connection, "patch")
        assert (
            found is not None and found.archived_at is None and found == chain_named(connection, "id-patch")
        )


@pytest.mark.parametrize("table", CHECKED)
def test_the_database_takes_exactly_the_statuses_of_the_table(database: Database, table: str) -> None:
    with database.read() as connection:
        checks = inspect(connection).get_check_constraints(table)
    (check,) = [str(one["sqltext"]) for one in checks if one["name"] == f"ck_{table}_status"]
    quoted = check.split("'")[1::2]
    assert set(quoted) == {one.value for one in CHECKED[table]}
    assert len(quoted) == len(set(quoted))


def test_a_status_that_is_none_is_refused(database: Database) -> None:
    with database.write() as connection:
        _add(connection)
    values = {"id": "r", "chain": "id-patch", "version": 1, "target": "*", "strategy": b"{}"}
    rest = {"plan_sha256": "", "author": "ann", "created": 1.0, "deadline": 2.0}
    with pytest.raises(OperationError), database.write() as connection:
        connection.execute(insert(CHAIN_RUNS).values(**values, **rest, status="nonsense"))
    with database.write() as connection:
        connection.execute(insert(CHAIN_RUNS).values(**values, **rest, status="running"))
