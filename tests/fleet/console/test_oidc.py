"""Sign-in at a provider: in a real browser, and what someone else's sign-in is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.fleet.access.oidc_provider import Provider, agree, running_provider
from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, running_console

POLICY = """\
login: {{oidc: {{issuer: "{issuer}", client_id: saltern}}}}
roles: {{operator: ["group:oidc:ops"]}}
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        running.now = time.time()
        yield running


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("oidc"), host="127.0.0.1", port=0) as running:
        running.client().policy.set(POLICY.format(issuer=provider.issuer))
        yield running


def visitor(console: Running) -> Browser:
    """A browser at the address of the server: the provider sends it back there."""
    made = Browser(console)
    made.host = f"127.0.0.1:{console.server.port}"
    return made


def back_from(browser: Browser, path: str = "/sign-in/provider") -> str:
    """Begin at the console, agree at the provider: the path with which the browser comes back."""
    begun = browser.get(path)
    assert begun.status == 303
    brought = agree(begun.header("location"))
    return "/sign-in/back?" + "&".join(f"{name}={value}" for name, value in brought.items())


def test_a_person_of_the_provider_signs_in(console: Running) -> None:
    browser = visitor(console)
    assert "Continue at your provider" in browser.get("/sign-in").text
    done = browser.get(back_from(browser, "/sign-in/provider?next=%2Faccount"))
    assert (done.status, done.header("location")) == (303, "/account")
    assert "oidc:" in browser.get("/account").text


def test_the_challenge_is_sent_and_the_verifier_stays(console: Running) -> None:
    browser = visitor(console)
    asked = parse_qs(urlsplit(browser.get("/sign-in/provider").header("location")).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["code_challenge"][0]
    assert not any("verifier" in name for name in asked)


def test_the_sign_in_of_someone_else_is_worth_nothing(console: Running) -> None:
    """Fixation: an attacker agrees as themselves, and has a victim follow the way back."""
    attacker, victim = visitor(console), visitor(console)
    way = back_from(attacker)
    refused = victim.get(way)
    assert refused.status in (401, 403) and "saltern" not in victim.cookies
    begun = visitor(console)
    begun.get("/sign-in/provider")  # with an attempt of their own it is no better
    assert begun.get(way).status in (401, 403) and "saltern" not in begun.cookies


def test_a_code_is_good_once(console: Running) -> None:
    browser = visitor(console)
    way = back_from(browser)
    kept = dict(browser.cookies)
    assert browser.get(way).status == 303
    browser.cookies = kept
    assert browser.get(way).status != 303


def test_a_session_from_before_ends_with_a_sign_in_at_the_provider(console: Running) -> None:
    known = visitor(console)
    known.sign_in("viewer")
    victim = visitor(console)
    victim.cookies = dict(known.cookies)
    assert victim.get(back_from(victim)).status == 303
    assert victim.cookies["saltern"] != known.cookies["saltern"]
    assert known.get("/account").status == 303, "who knew the session before has none now"


@pytest.mark.parametrize("bad", ["error=access_denied", "", "state=x&code=y", "code=%3Cscript%3Ealert(1)"])
def test_what_the_provider_refuses_is_said(console: Running, bad: str) -> None:
    browser = visitor(console)
    browser.get("/sign-in/provider")
    shown = browser.get(f"/sign-in/back?{bad}")
    assert shown.status in (401, 403) and "<script>alert" not in shown.text
    assert "begin again at the sign-in" in shown.text.lower()


def test_it_works_in_a_real_browser(console: Running) -> None:
    pytest.importorskip("playwright", reason="needs the browser")
    from playwright.sync_api import expect
    from tests.views.conftest import running_chromium

    base = f"http://127.0.0.1:{console.server.port}"
    with running_chromium() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}/systems")
        page.get_by_role("link", name="Continue at your provider").click()
        page.wait_for_url(f"{base}/systems")
        expect(page.locator(".who")).to_contain_text("oidc:")
