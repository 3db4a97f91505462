"""Signing in and out: whose session it is, where it leads, and what a stranger can make of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.api.kit import Running
from tests.fleet.console.kit import PASSWORD, Browser, form_token

from saltern.fleet.console.sign_in import safe_next


def test_a_visitor_is_sent_to_the_sign_in_and_back(visitor: Browser) -> None:
    sent = visitor.get("/account")
    assert (sent.status, sent.header("location")) == (303, "/sign-in?next=%2Faccount")
    token = form_token(visitor.get("/sign-in?next=/account").text)
    fields = {"csrf": token, "name": "viewer", "password": PASSWORD, "next": "/account"}
    assert visitor.post("/sign-in", fields).header("location") == "/account"
    assert "viewer" in visitor.get("/account").text


def test_a_wrong_password_is_refused_with_the_form_kept(visitor: Browser) -> None:
    shown = visitor.sign_in("viewer", "mistyped")
    assert shown.status == 401
    assert "name or the password is wrong" in shown.text.lower()
    assert 'value="viewer"' in shown.text
    assert "mistyped" not in shown.text


def test_signing_in_makes_another_session_and_ends_the_one_before(console: Running) -> None:
    first = Browser(console)
    first.sign_in("viewer")
    fixed = first.cookies["saltern"]
    victim = Browser(console)
    victim.cookies["saltern"] = fixed
    victim.sign_in("admin")
    assert victim.cookies["saltern"] != fixed
    assert first.get("/account").status == 303, "the session that was planted is of no use"


def test_signing_out_ends_the_session(console: Running) -> None:
    visitor = Browser(console)
    visitor.sign_in("viewer")
    kept = dict(visitor.cookies)
    assert visitor.act("/account", "/sign-out", {}).status == 303
    visitor.cookies = kept
    assert visitor.get("/account").status == 303


@pytest.mark.parametrize(
    "bad",
    [
        "//evil.test",
        "https://evil.test",
        "/\\evil.test",
        "\\\\evil.test",
        "javascript:alert(1)",
        "/\t/evil",
        "evil",
    ],
)
def test_a_sign_in_leads_nowhere_else(visitor: Browser, bad: str) -> None:
    assert visitor.sign_in("viewer", next=bad).header("location") == "/"


@given(st.text(max_size=40))
def test_what_is_safe_is_a_path_of_ours(text: str) -> None:
    found = safe_next(text)
    assert found in ("", text)
    assert not found or (found[0] == "/" and found[1:2] not in ("/", "\\"))


def test_cookies_are_for_this_host_alone(console: Running) -> None:
    secure = Browser(console, https=True)
    answer = secure.sign_in("viewer")
    (cookie,) = [value for name, value in answer.headers if "Host-saltern=" in value]
    for word in ("HttpOnly", "Secure", "Path=/", "SameSite=lax"):
        assert word in cookie
    assert "Domain" not in cookie
    plain = Browser(console).sign_in("viewer")
    assert any(value.startswith("saltern=") and "HttpOnly" in value for _, value in plain.headers)


def test_an_api_token_is_no_session(console: Running) -> None:
    made = console.client().operators.make_token("admin")
    visitor = Browser(console)
    visitor.cookies["saltern"] = made["token"]
    assert visitor.get("/account").status == 303


def test_the_link_of_root_works_once(console: Running) -> None:
    link = console.client().own.make_link()
    assert link["path"] == "/sign-in/link"
    root = Browser(console)
    page = root.get(f"/sign-in/link?code={link['code']}")
    assert page.status == 200
    fields = {"csrf": form_token(page.text), "code": link["code"]}
    assert root.post("/sign-in/link", fields).status == 303
    assert "local:root" in root.get("/account").text
    other = Browser(console)
    fields["csrf"] = form_token(other.get("/sign-in").text)
    again = other.post("/sign-in/link", fields)
    assert (again.status, "was already used" in again.text) == (401, True)


def test_only_root_on_the_socket_gets_a_link(console: Running) -> None:
    from saltern.fleet.client.problems import ControllerError

    token = console.client().operators.make_token("admin")["token"]
    with pytest.raises(ControllerError) as refused:
        console.client(token).own.make_link()
    assert refused.value.status == 403


def test_the_user_of_the_socket_is_nobody_to_the_pages(console: Running) -> None:
    """A proxy reaches the controller as the user that it runs as; its visitors are not that user."""
    import http.client
    import socket

    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(console.socket)
        connection.request("GET", "/account")
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("location")) == (303, "/sign-in?next=%2Faccount")
        answer.read()
    finally:
        connection.close()
