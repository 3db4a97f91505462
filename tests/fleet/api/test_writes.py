"""What changes something: jobs, keys, tokens, groups; done once for each client token."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import delete
from tests.fleet.api.kit import Running, add_job, add_system
from tests.fleet.api.test_requests import ask

from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError
from saltern.fleet.store import audit
from saltern.fleet.store.tables import ANSWERS

TOKEN = "a-client-token-0001"


def test_a_job_is_submitted_followed_and_cancelled(api: Running, client: Client) -> None:
    agents = {id_: api.agent(id_) for id_ in ("web1", "web2")}
    made = client.jobs.submit("state.apply", "web*", args=["web"], test=True)
    assert made["expected"] == ["web1", "web2"] and not made["known"]
    job = client.jobs.get(made["jid"])
    assert (job["function"], job["test"], job["user"]) == ("state.apply", True, client.me()["name"])
    assert all(one.jobs for one in agents.values())
    assert client.jobs.cancel(made["jid"]) == {"web1": "asked", "web2": "asked"}
    with pytest.raises(ControllerError, match=r"there is no job 'x'(?s:.*)`saltern jobs` lists them"):
        client.jobs.cancel("x")


def test_the_same_client_token_is_the_same_job(api: Running, client: Client) -> None:
    api.agent("web1")
    first = client.jobs.submit("test.ping", "*", client_token=TOKEN)
    assert client.jobs.submit("test.ping", "*", client_token=TOKEN) == first
    assert len(list(client.jobs.list())) == 1
    with pytest.raises(ControllerError, match="used for another request") as caught:
        client.jobs.submit("test.version", "*", client_token=TOKEN)
    assert caught.value.status == 422
    body = b'{"function": "test.ping", "target": "*", "client_token": "another-token-in-the-body"}'
    answers = [ask(api, "/v1/jobs", "POST", body=body, Content_Type="application/json") for _ in range(2)]
    assert answers[0][:2] == answers[1][:2] and answers[1][2]["client-token-known"] == "true"


def test_a_submission_is_known_by_its_job_as_long_as_the_job_is_kept(api: Running, client: Client) -> None:
    api.agent("web1")
    client.session.post("/v1/jobs", {"function": "test.ping", "target": "*"})  # so that there are events
    first = client.jobs.submit("test.ping", "*", client_token=TOKEN)
    with api.database.write() as connection:
        assert connection.execute(delete(ANSWERS)).rowcount == 0  # the job and its token are one transaction
    assert client.jobs.submit("test.ping", "*", client_token=TOKEN) == first
    assert first["cursor"] > 0


def test_many_at_once_with_one_client_token_are_one_job(api: Running) -> None:
    api.agent("web1")
    jids: list[str] = []

    def submit() -> None:
        with Client(api.socket) as client:
            jids.append(client.jobs.submit("test.ping", "*", client_token=TOKEN)["jid"])

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jids) == 8 and len(set(jids)) == 1


def test_a_write_that_failed_can_be_tried_again_with_its_token(api: Running, client: Client) -> None:
    for _ in range(2):
        with pytest.raises(ControllerError, match="no accepted system matches"):
            client.jobs.submit("test.ping", "web*", client_token=TOKEN)
    api.agent("web1")
    assert client.jobs.submit("test.ping", "web*", client_token=TOKEN)["expected"] == ["web1"]


def test_answers_that_are_kept_show_nothing(api: Running, client: Client, tmp_path: Path) -> None:
    first = client.session.post("/v1/tokens", {"uses": 3}, client_token=TOKEN)
    assert client.session.post("/v1/tokens", {"uses": 3}, client_token=TOKEN) == first
    with api.database.read() as connection:
        (row,) = connection.execute(ANSWERS.select()).all()
        assert row.status == 201
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("fleet.db*"))
    assert first["token"][20:60].encode() not in stored and TOKEN.encode() not in stored
    (listed,) = client.tokens.list()
    assert listed["uses"] == 3 and "token" not in listed
    client.tokens.remove(listed["id"])
    assert list(client.tokens.list()) == []


@pytest.mark.parametrize("token", ["short", "x" * 129, "with a space in it", "ü" * 20])
def test_a_client_token_must_be_hard_to_guess(api: Running, token: str) -> None:
    body = b'{"function": "test.ping", "target": "*"}'
    status, problem, _ = ask(
        api, "/v1/jobs", "POST", body=body, Content_Type="application/json", Client_Token=token.encode()
    )
    assert (status, problem["code"]) == (400, "api-bad-token")


def test_keys_are_decided_and_audited(api: Running, client: Client) -> None:
    add_system(api.database, "new1", accept=False)
    with pytest.raises(ControllerError, match="has the fingerprint") as caught:
        client.systems.accept("new1", fingerprint="SHA256:other")
    assert caught.value.status == 409
    assert client.systems.accept("new1", fingerprint="SHA256:new1")["state"] == "accepted"
    assert client.systems.revoke("new1", why="lost")["state"] == "revoked"
    assert client.systems.restore("new1")["state"] == "accepted"
    with pytest.raises(ControllerError, match="is accepted, and cannot become rejected"):
        client.systems.reject("new1")
    client.systems.remove("new1")
    with pytest.raises(ControllerError) as caught:
        client.systems.accept("new1")
    assert caught.value.status == 404
    with api.database.read() as connection:
        done = [(row.who, row.action) for row in audit.entries(connection)]
    who = client.me()["name"]
    assert done == [(who, f"system.{act}") for act in ("accept", "revoke", "restore", "delete")]


def test_groups_and_targets(api: Running, client: Client) -> None:
    for id_ in ("web1", "db1"):
        add_system(api.database, id_)
    assert client.groups.set("front", "web*") == {"name": "front", "target": "web*"}
    assert client.systems.resolve("@front") == ["web1"]
    assert [one["id"] for one in client.systems.list(target="not @front")] == ["db1"]
    assert list(client.groups.list()) == [{"name": "front", "target": "web*"}]
    client.groups.remove("front")
    for target, status in (("@front", 422), ("E@[", 422), ("( a", 422)):
        with pytest.raises(ControllerError) as caught:
            client.systems.resolve(target)
        assert caught.value.status == status
    with pytest.raises(ControllerError) as caught:
        client.groups.remove("front")
    assert caught.value.status == 404


def test_who_is_there_now(api: Running, client: Client) -> None:
    api.agent("web1")
    add_system(api.database, "web2")
    assert client.systems.poke("*") == {"there": ["web1"], "away": ["web2"], "silent": []}


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "api-bad-body"),
        (b"[]", "application/json", 400, "api-bad-body"),
        (b"{}", "application/json", 400, "api-bad-body"),
        (b'{"function": 1, "target": "*"}', "application/json", 400, "api-bad-body"),
        (b'{"function": "test.ping", "target": "*", "tets": true}', "application/json", 400, "api-bad-body"),
        (b'{"function": "test.ping", "target": "\\u0000"}', "application/json", 400, "api-bad-body"),
        (b'{"function": "ping", "target": "*"}', "application/json", 422, "fleet-submission"),
        (b"\xff\xfe", "application/json", 400, "api-bad-body"),
        (b"[" * 100_000, "application/json", 400, "api-bad-body"),
        (b'{"function": "test.ping", "target": "*"}', "text/plain", 415, "api-body-type"),
        (b'{"function": "test.ping", "target": "*"}', "", 415, "api-body-type"),
        (b" " * (1024 * 1024 + 1), "application/json", 413, "api-body-large"),
    ],
)
def test_a_wrong_body_is_refused(api: Running, body: bytes, kind: str, status: int, code: str) -> None:
    found, problem, _ = ask(api, "/v1/jobs", "POST", body=body, Content_Type=kind)
    assert (found, problem["code"]) == (status, code)
    assert set(problem) == {"code", "what", "fix"} and problem["what"] and problem["fix"]


def test_a_body_of_unknown_length_has_the_same_limit(api: Running) -> None:
    def parts() -> object:
        for _ in range(40):
            yield b" " * 65536

    status, problem, _ = ask(api, "/v1/jobs", "POST", body=parts(), Content_Type="application/json")  # type: ignore[arg-type]
    assert (status, problem["code"]) == (413, "api-body-large")


def test_cancel_of_a_job_that_is_over(api: Running, client: Client) -> None:
    add_job(api.database, "1", ())
    assert client.jobs.cancel("1") == {}


def test_trees_have_versions_and_can_be_rolled_back(api: Running, client: Client, tmp_path: Path) -> None:
    first = client.trees.publish()
    (tmp_path / "files" / "web.sls").write_text("a: test.nop\n")
    second = client.trees.publish()
    assert first != second
    (now,) = client.trees.list()
    assert now == next(client.trees.log()) and now["environment"] == "base"
    assert (now["files"], now["size"]) > (0, 0)
    versions = [one["digest"] for one in client.trees.log()]
    assert len(versions) == 2
    assert [(one["path"], one["change"]) for one in client.trees.diff()] == [("web.sls", "added")]
    assert client.trees.rollback(version=versions[1][:8]) == versions[1]
    assert next(client.trees.list())["held"]
    client.trees.follow()
    assert not next(client.trees.list())["held"]
    with pytest.raises(ControllerError):
        client.trees.rollback("nothing")
