"""Many rows by one statement, on both kinds of database."""

from __future__ import annotations

import pytest
from sqlalchemy import Integer, bindparam, select, update
from sqlalchemy.exc import DatabaseError, IntegrityError

from saltern.fleet.protocol.messages import Job
from saltern.fleet.store.bulk import fetch, fetch_value, insert_rows, one_of, run_for_each, structs
from saltern.fleet.store.database import Database
from saltern.fleet.store.job_queries import TARGET_COLUMNS, TargetRow
from saltern.fleet.store.jobs import NewJob, create_job
from saltern.fleet.store.tables import EVENTS, SYSTEMS, TARGETS
from saltern.language.diagnostics import OperationError

ODD = 'it\'s "odd" \\ [1] ä'


def test_rows_get_the_defaults_of_their_columns(database: Database) -> None:
    rows = [{"at": float(number), "tag": f"t{number}", "data": b"{}"} for number in range(3)]
    with database.write() as connection:
        insert_rows(connection, EVENTS, rows)
        insert_rows(connection, EVENTS, [])
        found = connection.execute(select(EVENTS).order_by(EVENTS.c.number)).all()
    assert [(row.tag, row.system, row.cause, row.uid) for row in found] == [
        (f"t{number}", "", "", None) for number in range(3)
    ]
    assert [row.number for row in found] == sorted({row.number for row in found})


def test_a_list_of_any_length_is_one_parameter(database: Database) -> None:
    many = tuple(f"s{number:05}" for number in range(40_000))
    job = Job(jid="1", function="test.ping", user="joe")
    query = select(TARGETS.c.system).where(TARGETS.c.jid == bindparam("of"), one_of(TARGETS.c.system, "some"))
    with database.write() as connection:
        create_job(connection, NewJob(job=job, target="*", systems=(*many, ODD), expires=9.0), 1.0)
        for some in ([], ["s00001"], [ODD, "no such"], [*many]):
            found = connection.scalars(query, {"of": "1", "some": some}).all()
            assert {*found} == {*some} - {"no such"}
        assert connection.scalars(query, {"of": "2", "some": [*many]}).all() == []


def test_one_statement_changes_many_rows(database: Database) -> None:
    statement = (
        update(TARGETS)
        .where(TARGETS.c.jid == bindparam("of"), TARGETS.c.system == bindparam("on"))
        .values(status=bindparam("status"), why=bindparam("why"))
    )
    job = Job(jid="1", function="test.ping", user="joe")
    with database.write() as connection:
        create_job(connection, NewJob(job=job, target="*", systems=("a", "b", "c"), expires=9.0), 1.0)
        rows = [{"of": "1", "on": one, "status": "sent", "why": f"{one} {ODD}"} for one in ("a", "c")]
        run_for_each(connection, statement, rows)
        query = select(*TARGET_COLUMNS).order_by(TARGETS.c.system)
        found = structs(TargetRow, connection.execute(query).all())
    assert [(row.system, row.status, row.why) for row in found] == [
        ("a", "sent", f"a {ODD}"),
        ("b", "queued", ""),
        ("c", "sent", f"c {ODD}"),
    ]


def add_systems(database: Database, *ids: str, online: bool) -> None:
    row = {"state": "accepted", "key": b"\0\xff", "sealing_key": b"", "fingerprint": "f", "first_seen": 1.5}
    with database.write() as connection:
        insert_rows(connection, SYSTEMS, [{"id": id_, **row, "online": online} for id_ in ids])


def test_a_query_that_is_made_once_finds_what_any_other_finds(database: Database) -> None:
    add_systems(database, "a", "b", ODD, online=True)
    add_systems(database, "c", "d", online=False)
    query = (
        select(SYSTEMS.c.id, SYSTEMS.c.online, SYSTEMS.c.key, SYSTEMS.c.first_seen, SYSTEMS.c.seen_at)
        .where(SYSTEMS.c.state.in_(("accepted", "rejected")), SYSTEMS.c.online == bindparam("online"))
        .where(one_of(SYSTEMS.c.id, "some"))
        .order_by(SYSTEMS.c.id)
        .limit(bindparam("most", type_=Integer))
    )
    with database.read() as connection:
        for online in (True, False):
            for some in ([], ["a", "c"], ["a", "b", "c", "d", ODD]):
                for most in (1, 9):
                    given = {"online": online, "some": some, "most": most}
                    usual = connection.execute(query, given).all()
                    found = fetch(connection, query, **given)
                    assert [tuple(row) for row in found] == [tuple(row) for row in usual]
                    assert [[*map(type, row)] for row in found] == [[*map(type, row)] for row in usual]


def test_the_first_value_or_none(database: Database) -> None:
    add_systems(database, "a", "b", online=True)
    query = select(SYSTEMS.c.id).where(SYSTEMS.c.id > bindparam("after")).order_by(SYSTEMS.c.id)
    with database.read() as connection:
        assert fetch_value(connection, query, after="") == "a"
        assert fetch_value(connection, query, after="b") is None


def test_a_statement_may_have_values_of_its_own(database: Database) -> None:
    add_systems(database, "a", "b", "c", online=True)
    change = update(SYSTEMS).where(SYSTEMS.c.id == bindparam("of"), SYSTEMS.c.id < "c").values(why="gone")
    with database.write() as connection:
        run_for_each(connection, change, [{"of": one} for one in ("a", "c")])
        rows = connection.execute(select(SYSTEMS.c.id, SYSTEMS.c.why).order_by(SYSTEMS.c.id)).all()
    assert [tuple(row) for row in rows] == [("a", "gone"), ("b", ""), ("c", "")]


def test_errors_of_the_driver_are_those_of_the_library(database: Database) -> None:
    add_systems(database, "a", online=True)
    with pytest.raises(OperationError, match="refuses"):
        add_systems(database, "a", online=True)
    with pytest.raises(OperationError), database.write() as connection:
        with pytest.raises(IntegrityError), connection.begin_nested():
            insert_rows(connection, EVENTS, [{"at": 1.0, "tag": None, "data": b""}])
        insert_rows(connection, EVENTS, [{"at": 1.0, "tag": "t", "data": b"{}"}])
        raise DatabaseError("as if", None, Exception("it broke"))
    with database.read() as connection:
        assert connection.scalars(select(EVENTS.c.tag)).all() == []  # rolled back, with what went well
