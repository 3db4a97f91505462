"""The commands about permission, against a running API: as a person types them."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.fleet.access.conftest import CountedPasswords
from tests.fleet.access.oidc_provider import Provider, browse, running_provider
from tests.fleet.api.kit import Running, running_api

from saltern.cli.main import run
from saltern.cli.stored_logins import Login, path_of, store_login, stored_login
from saltern.fleet.access.service import Access
from saltern.fleet.store.tables import AUDIT
from saltern.language.diagnostics import OperationError

PASSWORD = "correct horse battery"
Type = Callable[..., tuple[int, str, str]]


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A controller on a socket and on a port of loopback; the user's files are in a directory of the test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("SALTERN_TOKEN", raising=False)
    with running_api(tmp_path, host="127.0.0.1", port=0) as running:
        running.server.app.desk.access = Access(running.database, passwords=CountedPasswords())
        monkeypatch.setenv("SALTERN_CONTROLLER", running.socket)
        yield running


@pytest.fixture
def remote(api: Running) -> str:
    return f"http://127.0.0.1:{api.server.port}"


@pytest.fixture
def type_(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run a command with a text on standard input; exit code, output, messages."""

    def command(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = run(list(words))
        return code, *capsys.readouterr()

    return command


def add(type_: Type, name: str, *roles: str) -> None:
    options = [word for role in roles for word in ("--role", role)]
    code, _, said = type_("operators", "add", name, *options, stdin=f"{PASSWORD}\n")
    assert code == 0, said


def test_log_in_ask_and_log_out(api: Running, remote: str, type_: Type) -> None:
    add(type_, "anna", "viewer")
    code, said, more = type_("login", "anna", "--controller", remote, stdin=f"{PASSWORD}\n")
    assert code == 0 and f"logged in at {remote} as anna" in said and "viewer" in said
    path = Path(path_of(os.environ))
    assert str(path) in more and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PASSWORD not in path.read_text()
    assert type_("fleet", "systems", "--controller", remote)[0] == 0
    code, _, said = type_("operators", "--controller", remote)
    assert code == 1 and "anna may not list operators" in said
    assert type_("logout", "--controller", remote)[:2] == (0, f"logged out at {remote}\n")
    code, _, said = type_("fleet", "systems", "--controller", remote)
    assert code == 1 and "saltern login" in said
    assert json.loads(path.read_text()) == {}
    assert type_("logout", "--controller", remote)[0] == 0


def test_a_wrong_password_is_refused_and_an_empty_one_is_not_sent(
    api: Running, remote: str, type_: Type
) -> None:
    add(type_, "anna", "viewer")
    code, _, said = type_("login", "anna", "--controller", remote, stdin="wrong\n")
    assert code == 1 and "login-failed" in said
    code, _, said = type_("login", "anna", "--controller", remote)
    assert code == 1 and "password-missing" in said
    assert not Path(path_of(os.environ)).exists()


def test_operators_and_their_tokens(
    api: Running, remote: str, type_: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert type_("operators", "add", "ci", "--no-password", "--role", "viewer")[0] == 0
    code, token, _ = type_("operators", "token", "ci", "--label", "build", "--scope", "systems.read")
    assert code == 0 and re.fullmatch(r"stt_[0-9a-f]{16}\.[\w-]{43}\n", token)
    monkeypatch.setenv("SALTERN_TOKEN", token.strip())
    assert type_("fleet", "systems", "--controller", remote)[0] == 0
    code, _, said = type_("jobs", "--controller", remote)
    assert code == 1 and "outside-scope" in said
    monkeypatch.delenv("SALTERN_TOKEN")
    code, listed, _ = type_("operators", "tokens", "ci", "--out", "json")
    ((row,),) = json.loads(listed).values()
    assert row["label"] == "build" and row["scopes"] == ["systems.read"] and token.strip() not in listed
    assert type_("operators", "revoke", row["id"], "ci")[0] == 0
    assert type_("operators", "change", "ci", "--role", "approver")[1].startswith("ci has the roles approver")
    for word in ("disable", "enable", "remove"):
        assert type_("operators", word, "ci")[0] == 0
    assert "no operators" in type_("operators")[1]
    code, _, said = type_("operators", "remov", "ci")
    assert code == 1 and "did you mean 'remove'?" in said
    code, _, said = type_("operators", "remove")
    assert code == 1 and "saltern operators remove NAME" in said


def test_a_policy_is_checked_put_in_force_and_explained(api: Running, type_: Type, tmp_path: Path) -> None:
    for system in ("web1", "db1"):
        api.agent(system)
    file = tmp_path / "mine.yaml"
    file.write_text("rules:\n  - {who: anna, functoins: state.*}\n")
    code, _, said = type_("policy", "check", str(file))
    assert code == 1 and f"{file}:2" in said and "did you mean 'functions'?" in said
    assert type_("policy", "set", str(file))[0] == 1
    file.write_text("rules:\n  - {name: web, who: anna, functions: state.*, target: 'web*'}\n")
    assert type_("policy", "check", str(file))[0] == 0
    assert "version 1 is in force" in type_("policy", "set", str(file))[1]
    assert "who: anna" in type_("policy")[1] and "local:" in type_("policy", "versions")[1]
    code, said, _ = type_("policy", "explain", "anna", "state.apply", "*")
    assert code == 2 and "web: allows it [web1]" in said and "denied" in said and "on db1" in said
    assert type_("policy", "explain", "anna", "state.apply", "web*")[:2][0] == 0
    assert type_("policy", "explain", "joe", "cmd.run", "*", "--role", "admin")[0] == 0


def test_a_job_is_approved_by_another_person(api: Running, remote: str, type_: Type, tmp_path: Path) -> None:
    api.agent("web1")
    file = tmp_path / "policy.yaml"
    file.write_text("rules: [{name: all, who: anna, functions: '*', only: approval}]\n")
    assert type_("policy", "set", str(file))[0] == 0
    add(type_, "anna", "operator")
    add(type_, "joe", "approver")
    anna = api.client()
    anna.own.login("anna", PASSWORD)
    with pytest.raises(OperationError) as refused:
        anna.jobs.submit("test.ping", "*")
    (id_,) = re.findall(r"approvals approve (\w+)", str(refused.value))
    assert type_("login", "joe", "--controller", remote, stdin=f"{PASSWORD}\n")[0] == 0
    assert id_ in type_("approvals", "--controller", remote)[1]
    code, said, _ = type_("approvals", "approve", id_, "--why", "fine", "--controller", remote)
    assert code == 0 and f"{id_} is approved: anna can run it now" in said
    assert "no requests" in type_("approvals", "--controller", remote)[1]
    assert id_ in type_("approvals", "list", "all", "--controller", remote)[1]
    assert anna.jobs.submit("test.ping", "*")["expected"] == ["web1"]


def test_the_audit_is_listed_verified_and_tampering_is_located(api: Running, type_: Type) -> None:
    add(type_, "anna", "viewer")
    add(type_, "joe", "viewer")
    code, head, _ = type_("audit", "verify")
    assert code == 0
    listed = type_("audit", "--action", "operators.add", "--last", "1")[1]
    assert "operator=joe" in listed and "operator=anna" not in listed
    assert type_("audit", "verify", "--noted", head.strip())[0] == 0
    code, _, said = type_("audit", "verify", "--noted", f"99:{'0' * 64}")
    assert code == 1 and "cut off" in said
    assert type_("audit", "verify", "--noted", "nonsense")[0] == 1
    with api.database.write() as connection:
        connection.execute(update(AUDIT).where(AUDIT.c.number == 1).values(who="mallory"))
    code, _, said = type_("audit", "verify")
    assert code == 1 and "row 1 was changed" in said and "audit-broken" in said


@pytest.mark.parametrize("words", [("https://ctl:4510",), ("anna", "https://ctl:4510")])
def test_an_address_is_not_the_name_of_a_person(type_: Type, words: tuple[str, ...]) -> None:
    code, _, said = type_("login", *words)
    assert code == 1 and "'https://ctl:4510' is not the name of a person" in said
    assert "saltern login NAME --controller https://HOST:PORT" in said


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


def test_a_login_in_a_browser_at_a_provider(
    api: Running, remote: str, type_: Type, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The browser is a thread that follows redirects; all else is the real thing."""
    import time
    import webbrowser

    provider.now = time.time()
    oidc = json.dumps({"issuer": provider.issuer, "client_id": "saltern"})
    text = f"login: {{oidc: {oidc}}}\nroles: {{viewer: ['group:oidc:ops']}}"
    api.server.app.desk.access.policies.edit(text, who="root", now=time.time())
    statuses: list[int] = []

    def open_browser(address: str) -> bool:
        thread = threading.Thread(target=lambda: statuses.append(browse(address)))
        thread.start()
        return True

    monkeypatch.setattr(webbrowser, "open", open_browser)
    code, said, more = type_("login", "--controller", remote)
    assert code == 0, more
    assert "as oidc:joe" in said and "roles: viewer" in said
    assert type_("fleet", "systems", "--controller", remote)[0] == 0
    provider.claims = lambda claims: {**claims, "nonce": "x"}
    code, _, said = type_("login", "--controller", remote)
    assert code == 1 and "login-refused" in said


def test_a_browser_that_refuses_or_lies_ends_no_login(monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib.error import HTTPError

    from saltern.fleet.client.browser_login import Loopback

    answers: list[object] = []

    def visit(address: str) -> None:
        for query in (
            "/callback?state=wrong&code=1",
            "/elsewhere",
            "/callback",
            "/callback?state=s&error=access_denied",
        ):
            try:
                answers.append(browse(address.replace("/callback", query)))
            except HTTPError as problem:
                answers.append(problem.code)

    with Loopback() as loopback:
        thread = threading.Thread(target=visit, args=(loopback.redirect,))
        thread.start()
        with pytest.raises(OperationError) as refused:
            loopback.wait("s", 30)
        thread.join()
        assert answers == [404, 404, 404, 200] and "access_denied" in str(refused.value)
    with Loopback() as loopback, pytest.raises(OperationError) as refused:
        loopback.wait("s", 0.01)
    assert "nothing came back" in str(refused.value)


def test_logins_that_others_can_read_are_not_used(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    store_login("https://a:1", Login(token="t", name="anna", expires=100.0, ca="PEM"), environ)
    assert stored_login("https://a:1", environ, 99.0).token == "t"
    late = stored_login("https://a:1", environ, 100.0)
    assert (late.token, late.ca) == ("", "PEM")
    assert stored_login("https://b:1", environ, 1.0) == Login()
    assert stored_login("https://a:1", {**environ, "SALTERN_TOKEN": "x"}, 1.0) == Login(token="x", ca="PEM")
    path = Path(path_of(environ))
    path.chmod(0o640)
    with pytest.raises(OperationError) as refused:
        stored_login("https://a:1", environ)
    assert "chmod 600" in str(refused.value)
    path.chmod(0o600)
    path.write_text('{"https://a:1": 5}')
    with pytest.raises(OperationError) as refused:
        stored_login("https://a:1", environ)
    assert "damaged" in str(refused.value)


def test_who_has_a_rule_and_no_role_sees_what_came_of_their_own_jobs(
    api: Running, type_: Type, tmp_path: Path
) -> None:
    api.agent("web1")
    file = tmp_path / "policy.yaml"
    file.write_text("rules: [{who: anna, functions: test.ping}]\n")
    assert type_("policy", "set", str(file))[0] == 0
    add(type_, "anna", "viewer")
    admin = api.client()
    admin.operators.change("anna", roles=[])
    anna = api.client()
    anna.own.login("anna", PASSWORD)
    mine, other = (client.jobs.submit("test.ping", "*")["jid"] for client in (anna, admin))
    assert anna.jobs.get(mine)["user"] == "anna" and list(anna.jobs.targets(mine))
    for refused in (
        lambda: anna.jobs.get(other),
        lambda: list(anna.jobs.list()),
        lambda: list(anna.systems.list()),
    ):
        with pytest.raises(OperationError) as problem:
            refused()
        assert problem.value.diagnostics[0].code == "not-allowed"
    token = api.client(anna.own.make_token(scopes=["jobs.submit"])["token"])
    with pytest.raises(OperationError):
        token.jobs.get(mine)


def test_users_of_the_host_are_known_on_the_socket_if_the_policy_says_so(api: Running) -> None:
    import pwd

    from saltern.fleet.access.ports import Peer

    access = api.server.app.desk.access
    peer = Peer(uid=pwd.getpwnam("daemon").pw_uid)
    assert access.authenticate({}, peer, 1.0) is None
    access.policies.edit(
        "login: {socket: true}\nroles: {viewer: ['group:local:daemon']}", who="root", now=1.0
    )
    found = access.authenticate({}, peer, 1.0)
    assert found is not None and (found.name, found.roles) == ("local:daemon", ("viewer",))
    assert access.authenticate({"x-forwarded-for": "192.0.2.1"}, peer, 1.0) is None
