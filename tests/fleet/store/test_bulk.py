"""Many rows by one statement, on both kinds of database."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from saltern.fleet.protocol.messages import Job
from saltern.fleet.store.bulk import insert_rows, one_of, run_for_each, structs
from saltern.fleet.store.database import Database
from saltern.fleet.store.job_queries import TARGET_COLUMNS, TargetRow
from saltern.fleet.store.jobs import NewJob, create_job
from saltern.fleet.store.tables import EVENTS, TARGETS

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
