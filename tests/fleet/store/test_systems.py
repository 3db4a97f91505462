"""Systems, tokens, facts, events and how long things are kept."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from saltern.fleet.protocol.messages import Facts, Job, Return, SyncRequest
from saltern.fleet.store import events, job_queries, jobs, retention, systems, tokens
from saltern.fleet.store.access_tables import VOTES
from saltern.fleet.store.approvals import (
    APPROVED,
    OPEN,
    REJECTED,
    USED,
    Approval,
    Vote,
    add_approval,
    approvals,
    vote,
)
from saltern.fleet.store.database import Database
from saltern.fleet.store.enrolment import record_enrolment
from saltern.fleet.store.events import NewEvent
from saltern.fleet.store.jobs import NewJob
from saltern.fleet.store.policies import add_policy, newest_policy, policy_versions
from saltern.fleet.store.systems import Applicant
from saltern.fleet.store.tables import RETURNS
from saltern.fleet.store.tokens import Token


def applicant(id_: str = "web1", key: bytes = b"k" * 32) -> Applicant:
    return Applicant(id=id_, key=key, sealing_key=b"s" * 32, fingerprint="SHA256:abc")


def sync(instance: str, starts: int) -> SyncRequest:
    return SyncRequest(nonce="n", instance=instance, starts=starts)


def test_a_system_waits_until_it_is_accepted(database: Database) -> None:
    with database.write() as connection:
        assert systems.enrol(connection, applicant(), 1.0) == "pending"
        assert systems.enrol(connection, applicant(), 2.0) == "pending"
        assert systems.note_sync(connection, "web1", sync("a", 1), 2.0) != ""
        assert systems.decide(connection, "web1", "accepted", "joe", 3.0)
        assert not systems.decide(connection, "web1", "rejected", "joe", 3.0)
        assert systems.note_sync(connection, "web1", sync("a", 1), 4.0) == ""
        one = systems.system(connection, "web1")
        assert one is not None and (one.state, one.decided_by, one.online) == ("accepted", "joe", True)
        assert [one.id for one in systems.systems(connection, "pending")] == []


def test_another_key_with_the_same_id_is_refused(database: Database) -> None:
    with database.write() as connection:
        systems.enrol(connection, applicant(), 1.0, accept_by="t1")
        assert systems.enrol(connection, applicant(key=b"x" * 32), 2.0, accept_by="t2") == "taken"
        assert systems.forget(connection, "web1")
        assert systems.enrol(connection, applicant(key=b"x" * 32), 3.0) == "pending"


def test_a_copy_of_a_system_is_noticed(database: Database) -> None:
    with database.write() as connection:
        systems.enrol(connection, applicant(), 1.0, accept_by="t")
        assert systems.note_sync(connection, "web1", sync("a", 4), 2.0) == ""
        assert systems.note_sync(connection, "web1", sync("a", 4), 3.0) == ""
        assert "copied" in systems.note_sync(connection, "web1", sync("b", 4), 4.0)
        assert systems.note_sync(connection, "web1", sync("c", 5), 5.0) == ""


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        ("pending", "accepted", True),
        ("pending", "revoked", False),
        ("accepted", "revoked", True),
        ("accepted", "rejected", False),
        ("rejected", "accepted", True),
        ("revoked", "accepted", True),
        ("revoked", "rejected", False),
    ],
)
def test_the_moves_of_a_key(database: Database, old: str, new: str, allowed: bool) -> None:
    paths = {"pending": (), "accepted": ("accepted",), "rejected": ("rejected",)}
    with database.write() as connection:
        systems.enrol(connection, applicant(), 1.0)
        for state in paths.get(old, ("accepted", "revoked")):
            assert systems.decide(connection, "web1", state, "joe", 1.0)
        assert systems.decide(connection, "web1", new, "joe", 2.0) is allowed


def test_facts_are_kept_until_they_change(database: Database) -> None:
    with database.write() as connection:
        systems.enrol(connection, applicant(), 1.0, accept_by="t")
        systems.enrol(connection, applicant("web2"), 1.0)
        facts = Facts(nonce="n", digest="a" * 64, grains={"os": "Debian"})
        assert systems.store_facts(connection, "web1", facts, 2.0)
        assert not systems.store_facts(connection, "web1", facts, 3.0)
        changed = Facts(nonce="n", digest="b" * 64, grains={"os": "Fedora"})
        assert systems.store_facts(connection, "web1", changed, 4.0)
        assert systems.store_facts(connection, "web2", changed, 4.0)
        assert dict(systems.all_facts(connection)) == {"web1": {"os": "Fedora"}}  # web2 is not accepted


def token(**more: object) -> Token:
    usual = Token(id="t", made_at=1.0, made_by="joe", expires=100.0, uses=1, site="")
    return replace(usual, **more)


KEY = bytes(range(32))


def test_a_token_is_used_as_often_as_it_says(database: Database) -> None:
    with database.write() as connection:
        tokens.add_token(connection, token(uses=2), KEY)
        assert tokens.token(connection, "t") == (token(uses=2), KEY)
        assert [tokens.use_token(connection, "t", 2.0) for _ in range(3)] == [True, True, False]
        assert tokens.tokens(connection) == [token(uses=0)]


@pytest.mark.parametrize(("id_", "now"), [("none", 2.0), ("t", 100.0), ("t", 200.0)])
def test_a_token_that_is_unknown_or_expired_is_not_used(database: Database, id_: str, now: float) -> None:
    with database.write() as connection:
        tokens.add_token(connection, token(), KEY)
        assert not tokens.use_token(connection, id_, now)
        assert tokens.tokens(connection) == [token()]


def test_of_many_that_use_a_token_at_once_one_gets_in(database: Database) -> None:
    with database.write() as connection:
        tokens.add_token(connection, token(), KEY)
    got: list[bool] = []

    def join() -> None:
        with database.write() as connection:
            got.append(tokens.use_token(connection, "t", 2.0))

    threads = [threading.Thread(target=join) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(got) == 1


# A system before, and a request with the same key or another → what is written, and the state after.
@pytest.mark.parametrize(
    ("before", "same", "state", "written", "after"),
    [
        ("", True, "accepted", True, "accepted"),
        ("", True, "pending", True, "pending"),
        ("", True, "revoked", False, None),
        ("accepted", True, "accepted", None, "accepted"),
        ("accepted", True, "pending", False, "accepted"),
        ("accepted", False, "accepted", False, "accepted"),
        ("accepted", False, "pending", False, "accepted"),
        ("pending", True, "accepted", True, "accepted"),
        ("pending", True, "pending", None, "pending"),
        ("pending", False, "accepted", True, "accepted"),
        ("pending", False, "pending", None, "pending"),
        ("rejected", True, "rejected", None, "rejected"),
        ("rejected", True, "accepted", False, "rejected"),
        ("rejected", False, "pending", True, "pending"),
        ("revoked", True, "accepted", False, "revoked"),
        ("revoked", True, "revoked", None, "revoked"),
        ("revoked", False, "accepted", True, "accepted"),
    ],
)
def test_a_decided_request_is_written_once(
    database: Database, before: str, same: bool, state: str, written: bool | None, after: str | None
) -> None:
    with database.write() as connection:
        if before:
            systems.enrol(
                connection, applicant(), 1.0, accept_by="t" if before in ("accepted", "revoked") else ""
            )
            if before in ("rejected", "revoked"):
                systems.decide(connection, "web1", before, "joe", 1.0)
        one = applicant() if same else replace(applicant(), key=b"o" * 32)
        assert record_enrolment(connection, one, state, 2.0) is written
        known = systems.system(connection, "web1")
        assert (known.state if known else None) == after
        if known is not None and written:
            assert known.key == one.key


def test_a_request_whose_token_was_used_meanwhile_is_not_written(database: Database) -> None:
    with database.write() as connection:
        tokens.add_token(connection, token(), KEY)
        assert record_enrolment(connection, applicant(), "accepted", 2.0, token="t")
        assert record_enrolment(connection, applicant("web2"), "accepted", 2.0, token="t") is False
        assert systems.system(connection, "web2") is None


def test_events_are_read_from_a_cursor(database: Database) -> None:
    with database.write() as connection:
        some = [NewEvent(tag=f"saltern/{number % 2}/x", data={"n": number}, at=1.0) for number in range(10)]
        events.store_events(connection, some)
        events.store_events(connection, [])
    with database.read() as connection:
        first = events.read_events(connection, 0, "saltern/1/*", limit=2)
        rest = events.read_events(connection, first.cursor, "saltern/1/*")
        assert [one.data["n"] for one in first.events + rest.events] == [1, 3, 5, 7, 9]
        assert events.read_events(connection, rest.cursor).events == []
        assert events.newest_event(connection) == rest.cursor


NOTHING = dict.fromkeys((*retention.LIMITS, "reactions"), 0)  # reactions go with their events


def finished(database: Database, jid: str, now: float) -> None:
    job = Job(jid=jid, function="test.ping", user="joe")
    with database.write() as connection:
        jobs.create_job(connection, NewJob(job=job, target="*", systems=("web1",), expires=9e9), now)
        message = Return(jid=jid, status="returned", body=b"{}")
        jobs.store_returns(connection, [("web1", message)], now)


def test_what_ended_long_ago_is_removed_with_all_that_belongs_to_it(database: Database) -> None:
    day = retention.DAY
    finished(database, "old", 1.0)
    finished(database, "new", 40 * day)
    with database.write() as connection:
        job = Job(jid="open", function="test.ping", user="joe")
        jobs.create_job(connection, NewJob(job=job, target="*", systems=("web1",), expires=9e9), 1.0)
        some = [NewEvent(tag="a", data={}, at=1.0), NewEvent(tag="b", data={}, at=40 * day)]
        events.store_events(connection, some)
        gone = retention.prune(connection, retention.LIMITS, 41 * day)
        assert gone == {**NOTHING, "jobs": 1, "events": 1}
        assert {one.jid for one in job_queries.jobs(connection)} == {"new", "open"}
        assert [*connection.scalars(select(RETURNS.c.jid))] == ["new"]
        assert [one.tag for one in events.read_events(connection, 0).events] == ["b"]


def test_what_is_too_much_is_removed_oldest_first(database: Database) -> None:
    for number in range(6):
        finished(database, f"j{number}", float(number + 1))
    with database.write() as connection:
        some = [NewEvent(tag=str(number), data={}, at=1.0) for number in range(6)]
        events.store_events(connection, some)
        limits = {name: retention.Limit(days=1.0, rows=4) for name in retention.LIMITS}
        assert retention.prune(connection, limits, 10.0) == {**NOTHING, "jobs": 2, "events": 2}
        assert {one.jid for one in job_queries.jobs(connection)} == {"j2", "j3", "j4", "j5"}
        assert [one.tag for one in events.read_events(connection, 0).events] == ["2", "3", "4", "5"]
        assert not any(retention.prune(connection, limits, 10.0).values())


def request(id_: str, asked: float, state: str) -> Approval:
    return Approval(
        id=id_,
        asked_by="joe",
        asked_at=asked,
        expires=asked + retention.DAY,
        function="state.apply",
        target="*",
        systems=("web1",),
        shown={},
        digest=id_.rjust(64, "0"),
        rule="r",
        needed=1,
        state=state,
    )


def test_requests_for_approval_go_when_they_are_over_and_old_with_their_votes(database: Database) -> None:
    now = 1000 * retention.DAY
    limits = {**retention.LIMITS, "approvals": retention.Limit(days=30, rows=3)}
    old = [(f"old-{state}", 1.0, state) for state in (OPEN, APPROVED, REJECTED, USED)]
    new = [("a", now - 5, USED), ("b", now - 4, OPEN), ("c", now - 3, APPROVED), ("d", now - 2, REJECTED)]
    with database.write() as connection:
        for row in (*old, *new):
            add_approval(connection, request(*row))
            vote(connection, row[0], Vote(who="eve", approves=True, at=row[1]))
    with database.write() as connection:
        while retention.prune(connection, limits, now)["approvals"]:
            pass
        left = {one.id for one in approvals(connection, now)}
        assert left == {"b", "c", "d"}  # three are allowed, and "a" was used
        assert {*connection.scalars(select(VOTES.c.approval))} == left
        tight = {**limits, "approvals": retention.Limit(days=30, rows=1)}
        retention.prune(connection, tight, now)
        assert {one.id for one in approvals(connection, now)} == {"b", "c"}  # they may still be used


def test_of_the_policy_the_newest_of_each_source_stays_however_old(database: Database) -> None:
    now = 10_000 * retention.DAY
    with database.write() as connection:
        for number in range(6):
            add_policy(connection, str(number), source="api" if number % 2 else "file", who="joe", now=1.0)
        add_policy(connection, "young", source="api", who="joe", now=now - 1)
    with database.write() as connection:
        assert retention.prune(connection, retention.LIMITS, now)["policies"] == 5
        assert [one.version for one in policy_versions(connection)] == [7, 5]
        assert newest_policy(connection, source="file").text == "4"
        none = {**retention.LIMITS, "policies": retention.Limit(days=1, rows=0)}
        assert not retention.prune(connection, none, now)["policies"]


def test_the_number_of_an_event_is_never_used_again(database: Database) -> None:
    with database.write() as connection:
        events.store_events(
            connection,
            [events.NewEvent(tag="old", data={}, at=1.0), events.NewEvent(tag="old", data={}, at=1.0)],
        )
        cursor = events.newest_event(connection)
    with database.write() as connection:
        assert retention.prune(connection, retention.LIMITS, 1e9)["events"] == 2
    with database.write() as connection:
        events.store_events(connection, [events.NewEvent(tag="new", data={}, at=1e9)])
        assert [one.tag for one in events.read_events(connection, cursor).events] == ["new"]
