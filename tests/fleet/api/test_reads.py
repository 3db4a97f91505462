"""What is in the database, over HTTP."""

from __future__ import annotations

import pytest
from tests.fleet.api.kit import Running, add_audit, add_events, add_job, add_return, add_system

from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError
from saltern.fleet.store.audit import FIRST


def test_the_socket_knows_who_asks(client: Client) -> None:
    me = client.me()
    assert me["name"].startswith("local:") and me["roles"] == ["admin"] and me["via"] == "socket"
    assert client.health()["status"] == "ok"


def test_systems_are_listed_by_id_state_and_target(api: Running, client: Client) -> None:
    for id_ in ("web2", "db1", "web1"):
        add_system(api.database, id_)
    add_system(api.database, "new1", accept=False)
    assert [one["id"] for one in client.systems.list()] == ["db1", "new1", "web1", "web2"]
    assert [one["id"] for one in client.systems.list(state="pending")] == ["new1"]
    assert [one["id"] for one in client.systems.list(target="web1")] == ["web1"]
    assert client.systems.get("db1")["fingerprint"] == "SHA256:db1"
    assert client.systems.facts("db1")["grains"] == {"os": "Debian"}


@pytest.mark.parametrize("id_", ["a b", "ä=%2F?x#y", "..", "web1.example.org", "100%"])
def test_any_id_can_be_asked_for(api: Running, client: Client, id_: str) -> None:
    add_system(api.database, id_)
    assert client.systems.get(id_)["id"] == id_
    assert client.systems.facts(id_)["system"] == id_


def test_a_job_with_its_systems_and_returns(api: Running, client: Client) -> None:
    add_job(api.database, "1", ("db1", "web1", "web2"), kwargs={"pillar": {"x": "hunter2"}, "exclude": "a"})
    add_return(api.database, "1", "web1")
    job = client.jobs.get("1")
    assert (job["function"], job["args"], job["open"]) == ("state.apply", ["web"], 2)
    assert job["counts"] == {"queued": 2, "returned": 1}
    assert job["kwargs"] == {"pillar": "(concealed)", "exclude": "a"}
    assert [one["system"] for one in client.jobs.targets("1")] == ["db1", "web1", "web2"]
    assert [one["system"] for one in client.jobs.targets("1", status="queued")] == ["db1", "web2"]
    assert client.jobs.system_return("1", "web1")["body"] == {"a": 1}
    assert [(one["system"], one["body"]) for one in client.jobs.returns("1")] == [("web1", {"a": 1})]


def test_jobs_are_listed_newest_first_and_by_what_is_asked(api: Running, client: Client) -> None:
    add_job(api.database, "1", ("db1",), now=1.0)
    add_job(api.database, "2", ("web1",), now=2.0, user="ann", parent="1")
    add_job(api.database, "3", ("web1",), now=3.0, function="test.ping")
    add_return(api.database, "3", "web1")

    def listed(**only: object) -> list[str]:
        return [one["jid"] for one in client.jobs.list(**only)]  # type: ignore[arg-type]

    assert listed() == ["3", "2", "1"]
    assert (listed(user="ann"), listed(function="test.ping"), listed(parent="1")) == (["2"], ["3"], ["2"])
    assert (listed(system="web1"), listed(open=True)) == (["3", "2"], ["2", "1"])


def test_a_page_of_returns_ends_early_if_it_is_large(api: Running, client: Client) -> None:
    ids = tuple(f"web{number}" for number in range(8))
    add_job(api.database, "1", ids)
    large = b'"' + b"x" * 1_500_000 + b'"'
    for id_ in ids:
        add_return(api.database, "1", id_, large)
    page = client.session.get("/v1/jobs/1/returns", limit=100)
    assert 0 < len(page["items"]) < len(ids) and page["next"]
    assert [one["system"] for one in client.jobs.returns("1")] == [*ids]


def test_a_body_that_cannot_be_read_is_reported_in_its_place(api: Running, client: Client) -> None:
    add_job(api.database, "1", ("web1", "web2"))
    add_return(api.database, "1", "web1", b"{broken")
    add_return(api.database, "1", "web2", b"[" * 5000)
    for system in ("web1", "web2"):
        assert "cannot be read" in client.jobs.system_return("1", system)["body"]


def test_events_and_audit(api: Running, client: Client) -> None:
    add_events(api.database, "salt/job/1/new", "saltern/x", "salt/job/2/new")
    add_audit(api.database, 3)
    assert [one["tag"] for one in client.events(tag="salt/job/*")] == ["salt/job/1/new", "salt/job/2/new"]
    assert [one["number"] for one in client.events(after=2)] == [3]
    rows = list(client.audit.list())
    assert [row["detail"] for row in rows] == [{"n": 0}, {"n": 1}, {"n": 2}]
    verified = client.audit.verify()
    assert verified["whole"] and verified["digest"] == rows[-1]["digest"]
    assert client.audit.verify(number=2, digest=FIRST)["problem"] == "row 2 is not the one that was noted"


@pytest.mark.parametrize(
    "path", ["systems/x", "systems/x/facts", "jobs/x", "jobs/x/targets", "jobs/x/returns", "jobs/x/records/y"]
)
def test_what_is_not_there_is_named(client: Client, path: str) -> None:
    with pytest.raises(ControllerError, match=r"there is no .*'[xy]'") as caught:
        client.session.get(f"/v1/{path}")
    assert (caught.value.status, caught.value.code) == (404, "api-not-found")
