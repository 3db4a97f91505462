"""Answers to writes by client token, and lists page by page, on both databases."""

from __future__ import annotations

import threading

from saltern.fleet.protocol.messages import Job
from saltern.fleet.store import answers, jobs, listings, systems
from saltern.fleet.store.answers import Kept
from saltern.fleet.store.database import Database
from saltern.fleet.store.jobs import NewJob
from saltern.fleet.store.listings import JobFilter
from saltern.fleet.store.systems import Applicant


def test_a_write_is_claimed_answered_and_forgotten(database: Database) -> None:
    with database.write() as connection:
        assert answers.claim(connection, "ann", "t", "r", 1.0) is None
        assert answers.claim(connection, "joe", "t", "r", 1.0) is None  # another person, another write
        assert answers.claim(connection, "joe", "t", "r", 2.0) == Kept(request="r", status=0, body=b"")
        assert answers.claim(connection, "joe", "t", "r", 2.0 + answers.CLAIM) is None  # it was broken off
        answers.keep(connection, "joe", "t", 200, b"\x00x")
    with database.write() as connection:
        kept = Kept(request="r", status=200, body=b"\x00x")
        assert answers.claim(connection, "joe", "t", "other", 500.0) == kept
        answers.release(connection, "joe", "t")  # an answer that was given stays
        assert answers.claim(connection, "joe", "t", "r", 500.0) == kept
        answers.release(connection, "ann", "t")
        assert answers.claim(connection, "ann", "t", "r", 500.0) is None
        assert answers.claim(connection, "joe", "t", "r", 1000.0 + answers.KEPT) is None


def test_of_many_at_once_one_has_the_claim(database: Database) -> None:
    first: list[bool] = []

    def claim() -> None:
        with database.write() as connection:
            first.append(answers.claim(connection, "joe", "t", "r", 1.0) is None)

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(first) == [False] * 5 + [True]


def test_pages_follow_the_order_of_the_database(database: Database) -> None:
    """Databases order texts differently; each page continues where that order was left."""
    ids = ["a", "B", "b", "A", "ä", "z-1", "z_1", "z.1", "10", "9"]
    with database.write() as connection:
        for id_ in ids:
            one = Applicant(id=id_, key=b"k" * 32, sealing_key=b"s" * 32, fingerprint="f")
            systems.enrol(connection, one, 1.0, accept_by="t")
        job = Job(jid="1", function="test.ping", user="joe")
        jobs.create_job(connection, NewJob(job=job, target="*", systems=tuple(ids), expires=9.0), 1.0)
    with database.read() as connection:
        for lists in ("systems", "targets"):
            found: list[str] = []
            while True:
                after = found[-1] if found else ""
                if lists == "systems":
                    page = [row.id for row in listings.systems_after(connection, after, 3)]
                else:
                    page = [row.system for row in listings.targets_after(connection, "1", after, 3)]
                if not page:
                    break
                found += page
            assert sorted(found) == sorted(ids) and len(found) == len(ids)
        assert [row.id for row in listings.systems_of(connection, ["b", "x", "9"], 5)] == ["b", "9"]
        assert listings.jobs_before(connection, None, 5, JobFilter(user="ann")) == []
        assert [row.jid for row in listings.jobs_before(connection, None, 5, JobFilter(system="ä"))] == ["1"]
