"""What the database counts and compares for a page: the same as one row after the other would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from tests.fleet.api.kit import add_system
from tests.fleet.console.data import add_fleet, add_run

from saltern.chains.statuses import Leg
from saltern.fleet.protocol.messages import Facts
from saltern.fleet.store import chain_shapes, systems
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.facts import census
from saltern.fleet.store.glance import read_presence

RUN = "20261116024712000002"


def facts(connection: Connection, id_: str, digest: str) -> None:
    systems.store_facts(connection, id_, Facts(nonce="n", digest=digest * 64, grains={"os": digest}), 3.0)


def swap(connection: Connection) -> None:
    """Two systems have the facts of each other: the same systems, and the same digests."""
    facts(connection, "a", "2")
    facts(connection, "b", "1")


CHANGES: dict[str, Callable[[Connection], object]] = {
    "accepted": lambda connection: systems.decide(connection, "asks", "accepted", "joe", 5.0),
    "revoked": lambda connection: systems.decide(connection, "a", "revoked", "joe", 5.0),
    "forgotten": lambda connection: systems.forget(connection, "b"),
    "other facts": lambda connection: facts(connection, "a", "3"),
    "first facts": lambda connection: facts(connection, "asks", "1"),
    "swapped facts": swap,
}


@pytest.fixture
def three(database: Database) -> Database:
    """Two systems that are let in, and one that asks."""
    for name, accept in (("a", True), ("b", True), ("asks", False)):
        add_system(database, name, accept=accept)
    with database.write() as connection:
        facts(connection, "a", "1")
        facts(connection, "b", "2")
    return database


@pytest.mark.parametrize("change", [*CHANGES])
def test_a_census_differs_after_every_change(three: Database, change: str) -> None:
    with three.read() as connection:
        before = census(connection)
    with three.write() as connection:
        CHANGES[change](connection)
    with three.read() as connection:
        assert census(connection) != before


def test_a_census_is_the_same_as_long_as_nothing_changes(three: Database) -> None:
    with three.read() as connection:
        before = census(connection)
    with three.write() as connection:
        systems.note_away(connection, "a", 9.0)
        facts(connection, "b", "2")
    with three.read() as connection:
        assert census(connection) == before


def test_numbers_of_a_fleet_are_those_of_its_rows(three: Database) -> None:
    add_fleet(three, ["web-1", "web-2"])
    add_fleet(three, ["web-3"], online=False)
    with three.read() as connection:
        found, rows = read_presence(connection), systems.systems(connection)
    accepted = [row for row in rows if row.state == "accepted"]
    assert (found.accepted, found.pending) == (len(accepted), 1) == (5, 1)
    assert found.versions == Counter(row.version for row in accepted)
    assert {*found.away} == {row.id for row in accepted if not row.online}


def test_only_legs_with_something_bad_are_causes(database: Database) -> None:
    """The mark behind the colon of a shape has letters as well, which mean nothing."""
    legs = [
        ("a", "ccoon", Leg.RUNNING, ""),
        ("b", "cfnnn", Leg.FAILED, "no"),
        ("c", "ctnnn", Leg.RUNNING, "late"),
        ("d", "cunnn", Leg.RUNNING, "lost"),
        ("e", "nnnnn", Leg.EXPIRED, ""),
    ]
    add_run(database, RUN, legs, at=1.0)
    with database.write() as connection:
        text = "UPDATE chain_legs SET shape = 'ccoon:f7u0f7a1' WHERE system = 'a'"
        connection.exec_driver_sql(text)
    with database.read() as connection:
        bad = chain_shapes.failures(connection, [RUN])
        notes = chain_shapes.step_notes(connection, RUN)
    assert {row["system"]: row["status"] for row in bad} == {
        "b": "failed",
        "c": "timed out",
        "d": "indeterminate",
        "e": "expired",
    }
    assert {leg.rpartition(".")[2] for leg, _ in notes} == {"b", "c", "d"}
