"""Leases that only one controller holds, and an audit that shows every change."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update

from saltern.fleet.store import audit, leases
from saltern.fleet.store.database import Database
from saltern.fleet.store.tables import AUDIT, LEASES


def take(database: Database, holder: str, seconds: float = 60.0) -> int | None:
    with database.write() as connection:
        return leases.take(connection, "pruning", holder, seconds)


def test_a_lease_has_one_holder_and_is_renewed_by_it(database: Database) -> None:
    assert take(database, "one") == 1
    assert take(database, "two") is None
    assert take(database, "one") == 1


def test_a_lease_that_ended_changes_hands_with_a_higher_fence(database: Database) -> None:
    first = take(database, "one", seconds=-1.0)
    second = take(database, "two")
    assert (first, second) == (1, 2)
    with database.write() as connection:
        assert not leases.is_current(connection, "pruning", 1)
        assert leases.is_current(connection, "pruning", 2)


def test_a_holder_that_slept_past_the_end_gets_a_new_fence(database: Database) -> None:
    assert take(database, "one", seconds=-1.0) == 1
    assert take(database, "one") == 2


def test_a_lease_that_is_given_up_is_free_at_once(database: Database) -> None:
    fence = take(database, "one")
    assert fence is not None
    with database.write() as connection:
        leases.give_up(connection, "pruning", fence)
    assert take(database, "two") == 2


def test_a_lease_of_a_clock_that_ran_ahead_is_free_when_it_is_corrected(database: Database) -> None:
    assert take(database, "one", seconds=86_400.0) == 1  # as by a clock that is a day ahead
    assert take(database, "two", seconds=15.0) == 2
    assert take(database, "one", seconds=15.0) is None


def test_several_are_renewed_at_once_but_for_those_that_were_lost(database: Database) -> None:
    with database.write() as connection:
        assert leases.renew(connection, {"a": 60.0, "b": 60.0, "c": -1.0}, "one") == {"a": 1, "b": 1, "c": 1}
        leases.give_up(connection, "b", 1)
        assert leases.take(connection, "b", "two", 60.0) == 2
    with database.write() as connection:
        renewed = leases.renew(connection, {"a": 60.0, "b": 60.0, "c": 60.0}, "one")
        assert renewed == {"a": 1, "b": None, "c": 2}
        others = [leases.has_other(connection, name, "one", 60.0) for name in ("a", "b", "c", "unknown")]
    assert others == [False, True, False, False]


def test_a_lease_that_a_transaction_uses_now_does_not_delay_the_others(database: Database) -> None:
    if database.is_sqlite:
        return  # it has one writer
    with database.write() as using:
        assert leases.take(using, "b", "one", 60.0) == 1
        with database.write() as connection:
            assert leases.renew(connection, {"a": 60.0, "b": 60.0}, "one") == {"a": 1}
    with database.write() as connection:
        assert leases.renew(connection, {"a": 60.0, "b": 60.0}, "one") == {"a": 1, "b": 1}


def test_of_many_that_ask_at_once_one_gets_it(database: Database) -> None:
    got: list[int | None] = []
    threads = [
        threading.Thread(target=lambda name=f"c{number}": got.append(take(database, name)))
        for number in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(fence for fence in got if fence is not None) == [1]
    with database.read() as connection:
        assert len(connection.execute(select(LEASES)).all()) == 1


def fill(database: Database, rows: int) -> audit.Head:
    with database.write() as connection:
        for number in range(rows):
            last = audit.append(connection, "joe", "job", {"number": number}, float(number))
    return last


def verify(database: Database, noted: audit.Head | None = None) -> str:
    with database.read() as connection:
        return audit.verify(connection, noted)


def test_an_audit_that_was_only_added_to_is_in_order(database: Database) -> None:
    assert verify(database) == ""
    early = fill(database, 3)
    fill(database, 2)
    assert verify(database, early) == ""
    with database.read() as connection:
        assert [one.who for one in audit.page(connection, after=3)] == ["joe", "joe"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    number=st.integers(1, 6),
    column=st.sampled_from(["at", "who", "action", "detail", "previous", "digest"]),
)
def test_a_change_of_any_column_is_found(database: Database, number: int, column: str) -> None:
    with database.write() as connection:
        connection.execute(delete(AUDIT))
    fill(database, 6)
    value: object = {"at": 0.5, "detail": b"{}"}.get(column, "f" * 64)
    with database.write() as connection:
        connection.execute(update(AUDIT).where(AUDIT.c.number == number).values({column: value}))
    assert verify(database) == f"row {number} was changed, or one before it was"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_row_that_was_removed_is_missed(database: Database, number: int) -> None:
    fill(database, 4)
    with database.write() as connection:
        connection.execute(delete(AUDIT).where(AUDIT.c.number == number))
    assert verify(database) == f"row {number} is missing"


def test_rows_that_were_cut_off_are_missed_by_who_noted_the_head(database: Database) -> None:
    noted = fill(database, 4)
    with database.write() as connection:
        connection.execute(delete(AUDIT).where(AUDIT.c.number > 2))
    assert verify(database) == ""
    assert verify(database, noted) == "rows after 2 were cut off"
    with database.write() as connection:
        for number in (2, 3):
            audit.append(connection, "mallory", "nothing", {}, float(number))
    assert verify(database, noted) == "row 4 is not the one that was noted"


def test_controllers_append_at_once_and_the_chain_holds(database: Database) -> None:
    def add() -> None:
        for number in range(5):
            with database.write() as connection:
                audit.append(connection, "joe", "job", {"number": number}, 1.0)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert verify(database) == ""
    with database.read() as connection:
        assert audit.head(connection).number == 20


def test_a_row_that_was_put_in_between_is_found(database: Database) -> None:
    fill(database, 2)
    with database.write() as connection:
        row = connection.execute(select(AUDIT).where(AUDIT.c.number == 2)).one()
        connection.execute(insert(AUDIT).values({**row._mapping, "number": 3}))
    assert verify(database) == "row 3 was changed, or one before it was"
