"""Jobs in the database: expected sets, returns in any order and number, cancelling, deadlines."""

from __future__ import annotations

import random
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.store import deliveries, job_queries, jobs
from saltern.fleet.store.database import Database
from saltern.fleet.store.jobs import Change, NewJob
from saltern.fleet.store.returns import standings
from saltern.fleet.store.statuses import ENDS

SYSTEMS = ("db1", "web1", "web2")
numbers = count()


def new(jid: str = "1", systems: tuple[str, ...] = SYSTEMS, **more: object) -> NewJob:
    job = Job(jid=jid, function="state.apply", args=["web"], user="joe")
    fields: dict[str, object] = {"target": "*", "expires": 1000.0, "envelope": f"envelope of {jid}"}
    return NewJob(job=job, systems=systems, **{**fields, **more})  # type: ignore[arg-type]


def returned(jid: str = "1", status: str = "returned", **more: object) -> Return:
    return Return(jid=jid, status=status, started=5.0, ended=6.0, body=b"{}", **more)  # type: ignore[arg-type]


def create(database: Database, *some: NewJob, now: float = 1.0) -> None:
    with database.write() as connection:
        for one in some:
            jobs.create_job(connection, one, now)


def statuses(database: Database, jid: str = "1") -> dict[str, str]:
    with database.read() as connection:
        return {row.system: row.status for row in job_queries.targets(connection, jid)}


def test_a_job_is_written_with_its_expected_set(database: Database) -> None:
    create(database, new(systems=("web1", "db1", "web1", "web2")))
    with database.read() as connection:
        row = job_queries.job(connection, "1")
        assert row is not None and (row.expected, row.open, row.ended) == (3, 3, None)
        assert job_queries.counts(connection, "1") == {"queued": 3}
        assert [one.job.jid for one in job_queries.work_of(connection, "web1", 2.0)] == ["1"]
        assert job_queries.job(connection, "2") is None


def test_a_job_counts_as_sent_from_the_start_where_it_is_sent_at_once(database: Database) -> None:
    create(database, new(sent=frozenset({"db1", "web1"})))
    assert statuses(database) == {"db1": "sent", "web1": "sent", "web2": "queued"}
    with database.write() as connection:
        jobs.set_status(connection, Change("1", "db1", "running"), 2.0, reported=True)
        deliveries.mark_unsent(connection, "1", ["db1", "web1"], 3.0)
        deliveries.mark_sent(connection, "1", ["web2"], 3.0)
    assert statuses(database) == {"db1": "running", "web1": "queued", "web2": "sent"}


def test_a_job_for_no_system_has_ended_at_once(database: Database) -> None:
    create(database, new(systems=()))
    with database.read() as connection:
        row = job_queries.job(connection, "1")
        assert row is not None and row.ended == 1.0


def test_asking_twice_with_one_client_token_is_asking_once(database: Database) -> None:
    with database.write() as connection:
        first = jobs.create_job(connection, new("1", client_token="t"), 1.0)
        again = jobs.create_job(connection, new("2", client_token="t"), 2.0)
        other = jobs.create_job(connection, new("3"), 2.0)
        fourth = jobs.create_job(connection, new("4"), 2.0)
    assert (first, again, other, fourth) == ("1", "1", "3", "4")


def test_a_large_expected_set(database: Database) -> None:
    systems = tuple(f"system{number}" for number in range(1700))
    create(database, new(systems=systems))
    with database.write() as connection:
        stored = jobs.store_returns(connection, [(one, returned()) for one in systems], 2.0)
        assert len(stored) == 1700
        row = job_queries.job(connection, "1")
        assert row is not None and (row.open, row.ended) == (0, 2.0)


def test_returns_are_stored_once_and_end_the_job(database: Database) -> None:
    create(database, new())
    with database.write() as connection:
        some = [("web1", returned()), ("web2", returned(status="failed", failed=2)), ("web1", returned())]
        changes = jobs.store_returns(connection, some, 7.0)
        assert sorted(one.status for one in changes) == ["failed", "returned"]
        assert jobs.store_returns(connection, some, 8.0) == []
        row = job_queries.job(connection, "1")
        assert row is not None and (row.open, row.ended) == (1, None)
        jobs.store_returns(connection, [("db1", returned(status="refused", why="denied here"))], 9.0)
        row = job_queries.job(connection, "1")
        assert row is not None and (row.open, row.ended) == (0, 9.0)
        told = {one.system: one for one in job_queries.targets(connection, "1")}
        assert (told["web2"].failed, told["db1"].why, told["web1"].updated) == (2, "denied here", 7.0)


def test_a_system_cannot_put_itself_into_a_job(database: Database) -> None:
    create(database, new())
    with database.write() as connection:
        strangers = [("mallory", returned()), ("web1", returned("unknown"))]
        assert jobs.store_returns(connection, strangers, 7.0) == []
        assert job_queries.body(connection, "1", "mallory") is None
        assert job_queries.body(connection, "unknown", "web1") is None


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(), parts=st.integers(1, 5), cuts=st.integers(1, 4))
def test_parts_come_in_any_order_and_more_than_once(
    database: Database, seed: int, parts: int, cuts: int
) -> None:
    """However the messages are cut into batches, the body is whole, and the job ends exactly once."""
    chance = random.Random(seed)
    jid = f"j{next(numbers)}"
    create(database, new(jid, systems=("web1", "web2")))
    messages = [
        (system, Return(jid=jid, status="returned", part=part, parts=parts, body=f"{system}{part}".encode()))
        for system in ("web1", "web2")
        for part in range(parts)
    ]
    sent = messages + chance.choices(messages, k=len(messages))
    chance.shuffle(sent)
    changes: list[Change] = []
    while sent:
        some, sent = sent[:cuts], sent[cuts:]
        with database.write() as connection:
            changes += jobs.store_returns(connection, some, 3.0)
    assert sorted(changes, key=lambda one: one.system) == [
        Change(jid, "web1", "returned"),
        Change(jid, "web2", "returned"),
    ]
    with database.read() as connection:
        for system in ("web1", "web2"):
            whole = "".join(f"{system}{part}" for part in range(parts)).encode()
            assert job_queries.body(connection, jid, system) == ("json", whole)
        row = job_queries.job(connection, jid)
        assert row is not None and row.open == 0


def test_what_was_not_sent_is_cancelled_and_the_rest_is_asked(database: Database) -> None:
    create(database, new())
    with database.write() as connection:
        for system in ("web1", "web2"):
            jobs.set_status(connection, Change("1", system, "sent"), 2.0, reported=False)
        jobs.set_status(connection, Change("1", "web2", "running"), 2.0, reported=True)
        assert jobs.cancel_job(connection, "1", "joe", 3.0) == ["web1", "web2"]
        assert jobs.cancel_job(connection, "1", "joe", 3.0) == []
        assert job_queries.cancelled_jobs(connection, ["1", "2"]) == ["1"]
        assert job_queries.work_of(connection, "web1", 3.0) == []
    assert statuses(database) == {"db1": "cancelled", "web1": "sent", "web2": "running"}


def test_a_job_whose_time_is_over_ends_everywhere(database: Database) -> None:
    create(database, new())
    with database.write() as connection:
        jobs.set_status(connection, Change("1", "web1", "running"), 2.0, reported=True)
        assert jobs.end_overdue(connection, jobs.overdue(connection, 999.0), 999.0) == []
        assert len(jobs.end_overdue(connection, jobs.overdue(connection, 1000.0), 1000.0)) == 3
        assert jobs.end_overdue(connection, jobs.overdue(connection, 1000.0), 1000.0) == []
    assert statuses(database) == {"db1": "expired", "web1": "indeterminate", "web2": "expired"}


def test_a_system_that_is_to_come_back_is_waited_for(database: Database) -> None:
    create(database, new(systems=("web1",)))
    with database.write() as connection:
        jobs.set_status(connection, Change("1", "web1", "down"), 2.0, reported=True, back_by=1500.0)
        assert jobs.end_overdue(connection, jobs.overdue(connection, 1200.0), 1200.0) == []
        assert jobs.end_overdue(connection, jobs.overdue(connection, 1500.0), 1500.0) == [
            Change("1", "web1", "indeterminate")
        ]


def test_a_late_return_corrects_and_ends_nothing_twice(database: Database) -> None:
    create(database, new())
    with database.write() as connection:
        jobs.end_overdue(connection, jobs.overdue(connection, 1000.0), 1000.0)
        jobs.store_returns(connection, [("web1", returned())], 2000.0)
        row = job_queries.job(connection, "1")
        assert row is not None and (row.open, row.ended) == (0, 1000.0)
    assert statuses(database)["web1"] == "returned"
    assert set(statuses(database).values()) <= ENDS


def test_pages_of_jobs_hold_every_job_once(database: Database) -> None:
    create(database, *(new(f"{number:03}", systems=()) for number in range(25)), now=5.0)
    seen: list[str] = []
    before = None
    with database.read() as connection:
        while page := job_queries.jobs(connection, before=before, limit=10):
            seen += [one.jid for one in page]
            before = (page[-1].created, page[-1].jid)
    assert seen == [f"{number:03}" for number in reversed(range(25))]


@pytest.mark.parametrize("system", ["web1'; DROP TABLE jobs; --", "ü", "a" * 255, "%"])
def test_any_id_is_data(database: Database, system: str) -> None:
    create(database, new(systems=(system,)))
    with database.write() as connection:
        assert len(jobs.store_returns(connection, [(system, returned())], 2.0)) == 1
        assert job_queries.body(connection, "1", system) == ("json", b"{}")


def test_a_system_may_ask_for_more_jobs_than_a_statement_has_parameters(database: Database) -> None:
    create(database, new("known"))
    many = [f"j{number}" for number in range(70_000)]
    with database.read() as connection:
        assert standings(connection, "web1", []) == {}
        assert standings(connection, "web1", [*many, "known"]).keys() == {"known"}
        assert standings(connection, "web3", ["known"]) == {}
