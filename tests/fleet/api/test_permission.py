"""Who asks, and what they may: logins, tokens with scopes, roles, rules, approvals."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.api.test_requests import ask

from saltern.fleet.access import approvals
from saltern.fleet.api.refusals import LONGEST, RefusalLimit
from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError

PASSWORD = "correct horse battery"
POLICY = """
rules:
  - name: ping
    who: [role:operator]
    functions: [test.ping]
    target: 'web*'
  - name: two
    who: [role:operator]
    functions: [state.apply]
    target: 'web*'
    only: approval
"""


def logged_in(api: Running, client: Client, name: str, *roles: str) -> Client:
    """A client of a new operator."""
    client.operators.add(name, roles=[*roles], password=PASSWORD)
    other = api.client()
    other.own.login(name, PASSWORD)
    return other


def refused(status: int, code: str, work: object, *arguments: object, **named: object) -> ControllerError:
    with pytest.raises(ControllerError) as caught:
        found = work(*arguments, **named)  # type: ignore[operator]
        list(found if not isinstance(found, dict) else ())
    assert (caught.value.status, caught.value.code) == (status, code), str(caught.value)
    return caught.value


def test_who_is_refused_a_job_is_written_down(api: Running, client: Client) -> None:
    api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    secret = "hunter2"
    refused(403, "not-allowed", joe.jobs.submit, "cmd.run", "web*", args=[secret])
    refused(403, "needs-approval", joe.jobs.submit, "state.apply", "web*")
    jid = client.jobs.submit("test.ping", "*")["jid"]
    eve = logged_in(api, client, "eve", "viewer")
    refused(403, "not-allowed", eve.jobs.cancel, jid)
    rows = [one for one in client.audit.list() if one["action"].endswith(".refused")]
    assert [(one["who"], one["action"], one["detail"]["function"]) for one in rows] == [
        ("joe", "job.submit.refused", "cmd.run"),
        ("eve", "job.cancel.refused", "test.ping"),
    ]
    assert rows[0]["detail"]["target"] == "web*" and rows[0]["detail"]["systems"] == 1
    assert secret not in str(rows)
    assert client.audit.verify()["problem"] == ""


def test_one_who_is_refused_again_and_again_does_not_fill_the_audit(api: Running, client: Client) -> None:
    api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    clock = [0.0]
    api.server.app.desk.refusals = RefusalLimit(lambda: clock[0], rate=1.0, burst=3)
    long = "cmd.run" + "x" * 240
    for _ in range(20):
        refused(403, "not-allowed", joe.jobs.submit, long, "web*")
    clock[0] += 1.0
    refused(403, "not-allowed", joe.jobs.submit, long, "web*")
    rows = [one["detail"] for one in client.audit.list() if one["action"] == "job.submit.refused"]
    assert [one.get("left_out") for one in rows] == [None, None, None, 17]
    assert max(len(one["function"]) for one in rows) == LONGEST + 1


def test_one_person_can_have_so_many_requests_wait(
    api: Running, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "MOST_OPEN", 2)
    api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    for name in "ab":
        refused(403, "needs-approval", joe.jobs.submit, "state.apply", "web*", args=[name])
    problem = refused(429, "approvals-too-many", joe.jobs.submit, "state.apply", "web*", args=["c"])
    assert "approved or rejected first" in str(problem)
    refused(403, "needs-approval", joe.jobs.submit, "state.apply", "web*", args=["a"])  # it waits already


def test_an_operator_logs_in_and_out(api: Running, client: Client) -> None:
    joe = logged_in(api, client, "joe", "viewer")
    me = joe.me()
    assert (me["name"], me["roles"], me["via"]) == ("joe", ["viewer"], "session")
    assert "jobs.read" in me["may"]
    assert not {"jobs.submit", "policy.write", "systems.decide"} & {*me["may"]}
    old = joe.session.token
    joe.own.logout()
    joe.session.token = old
    refused(401, "api-not-authenticated", joe.me)
    refused(401, "login-failed", joe.own.login, "joe", "wrong")
    refused(401, "login-failed", joe.own.login, "nobody", "wrong")


def test_a_viewer_reads_and_changes_nothing(api: Running, client: Client) -> None:
    api.agent("web1")
    joe = logged_in(api, client, "joe", "viewer")
    assert [one["id"] for one in joe.systems.list()] == ["web1"]
    for work, arguments in (
        (joe.systems.revoke, ("web1",)),
        (joe.tokens.make, ()),
        (joe.groups.set, ("a", "*")),
        (joe.operators.list, ()),
        (joe.audit.list, ()),
        (joe.policy.set, ("rules: []",)),
        (joe.jobs.submit, ("test.ping", "*")),
    ):
        assert "joe" in str(refused(403, "not-allowed", work, *arguments))
    assert list(client.jobs.list()) == []


def test_rules_decide_by_function_and_systems(api: Running, client: Client) -> None:
    agents = {id_: api.agent(id_) for id_ in ("web1", "db1")}
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    made = joe.jobs.submit("test.ping", "web*")
    assert made["expected"] == ["web1"] and joe.jobs.get(made["jid"])["rule"] == "ping"
    refused(403, "not-allowed", joe.jobs.submit, "test.ping", "*")
    refused(403, "not-allowed", joe.jobs.submit, "cmd.run", "web1")
    assert agents["db1"].jobs == []
    assert joe.jobs.cancel(made["jid"]) == {"web1": "asked"}
    other = client.jobs.submit("cmd.run", "db1", args=["true"])
    refused(403, "not-allowed", joe.jobs.cancel, other["jid"])


def test_what_needs_approval_runs_after_it(api: Running, client: Client) -> None:
    agent = api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    ann = logged_in(api, client, "ann", "approver")
    refused(
        403, "needs-approval", joe.jobs.submit, "state.apply", "web*", kwargs={"pillar": {"a": "hunter2"}}
    )
    assert agent.jobs == []
    (wanted,) = ann.approvals.list(state="open")
    assert wanted["systems"] == ["web1"] and "hunter2" not in str(wanted)
    refused(403, "not-allowed", joe.approvals.approve, wanted["id"])
    assert ann.approvals.approve(wanted["id"])["state"] == "approved"
    call: dict[str, Any] = {"kwargs": {"pillar": {"a": "hunter2"}}}
    refused(403, "needs-approval", joe.jobs.submit, "state.apply", "web*", returners=["mail"], **call)
    made = joe.jobs.submit("state.apply", "web*", **call)
    assert made["expected"] == ["web1"] and "ann" in joe.jobs.get(made["jid"])["rule"]


def test_settings_of_a_returner_are_for_those_who_may_call_it(api: Running, client: Client) -> None:
    """They decide where it writes."""
    agent = api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    options = {"ret_kwargs": {"password": "hunter2"}}
    refused(
        403, "not-allowed", joe.jobs.submit, "test.ping", "web1", returners=["mysql"], return_options=options
    )
    assert agent.jobs == []
    joe.jobs.submit("test.ping", "web1", returners=["mysql"])
    client.jobs.submit("test.ping", "web1", returners=["mysql"], return_options=options)
    assert [job.return_options or {} for job in agent.jobs] == [{}, options]
    refused(422, "fleet-submission", client.jobs.submit, "test.ping", "web1", return_options={"jid": "x"})
    refused(
        422, "fleet-submission", client.jobs.submit, "test.ping", "web1", return_options={"ret_kwargs": 1}
    )


def test_a_token_does_what_its_scopes_say(api: Running, client: Client) -> None:
    api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    made = joe.own.make_token(label="ci", scopes=["jobs.submit:test.*"])
    ci = api.client(made["token"])
    jid = ci.jobs.submit("test.ping", "web*")["jid"]
    refused(403, "outside-scope", ci.jobs.submit, "state.apply", "web*")
    refused(403, "outside-scope", ci.jobs.get, jid)
    refused(403, "outside-scope", ci.jobs.cancel, jid)
    refused(403, "outside-scope", ci.own.make_token)
    assert {one["id"] for one in joe.own.tokens()} >= {made["id"]}
    joe.own.remove_token(made["id"])
    refused(401, "api-not-authenticated", ci.me)


def test_operators_are_changed_and_removed(api: Running, client: Client) -> None:
    joe = logged_in(api, client, "joe", "viewer")
    assert client.operators.change("joe", roles=["viewer", "approver"])["roles"] == ["viewer", "approver"]
    token = client.operators.make_token("joe", label="x")
    assert [one["label"] for one in client.operators.tokens("joe") if one["kind"] == "token"] == ["x"]
    client.operators.remove_token("joe", token["id"])
    client.operators.change("joe", disabled=True)
    refused(401, "api-not-authenticated", joe.me)
    client.operators.remove("joe")
    assert list(client.operators.list()) == []
    refused(404, "api-not-found", client.operators.get, "joe")
    refused(422, "operator-invalid", client.operators.add, "a b")


def test_the_policy_has_versions(api: Running, client: Client) -> None:
    assert client.policy.get()["version"] == 0
    made = client.policy.set(POLICY, after=0)
    refused(409, "policy-changed", client.policy.set, POLICY, after=0)
    assert client.policy.get()["text"] == POLICY
    assert [one["version"] for one in client.policy.versions()] == [made["version"]]


def test_a_token_counts_more_than_the_socket(api: Running, client: Client) -> None:
    """One who sends a token is who the token says, also if the socket's user may do more."""
    status, problem, _ = ask(api, "/v1/me", Authorization="Bearer wrong")
    assert (status, problem["code"]) == (401, "api-not-authenticated")


def test_passwords_and_tokens_are_not_in_the_log(
    api: Running, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    joe = logged_in(api, client, "joe", "viewer")
    refused(401, "login-failed", api.client().own.login, "joe", "some-wrong-secret")
    assert PASSWORD not in caplog.text and "some-wrong-secret" not in caplog.text
    assert joe.session.token not in caplog.text
