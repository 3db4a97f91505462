"""Logging in at a provider: what is asked, what is believed, and every token that must not be."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from tests.fleet.access.oidc_provider import Key, Provider, agree, running_provider
from tests.fleet.access.test_accounts import NOW, ROOT, code, who
from tests.fleet.databases import sqlite_database

from saltern.fleet.access.oidc import LIFE
from saltern.fleet.access.passwords import Passwords
from saltern.fleet.access.service import Access
from saltern.fleet.access.sessions import Session
from saltern.fleet.store.database import Database
from saltern.fleet.store.operators import Operator
from saltern.language.diagnostics import OperationError

REDIRECT = "http://127.0.0.1:7999/callback"
POLICY = """\
login: {{oidc: {{issuer: "{issuer}", client_id: saltern, algorithms: [ES256, RS256, EdDSA]{more}}}}}
roles: {{operator: ["group:oidc:ops"], admin: ["oidc:boss"]}}
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    """The provider as it was made, with the time of the test."""
    port = int(running.issuer.rpartition(":")[2])
    running.__init__(port)  # type: ignore[misc]
    running.now = NOW
    return running


@pytest.fixture
def door(database: Database, provider: Provider, passwords: Passwords) -> Access:
    access = Access(database, passwords=passwords)
    set_policy(access, provider)
    return access


@pytest.fixture
def quick(tmp_path: Path, provider: Provider, passwords: Passwords) -> Iterator[Access]:
    """On SQLite alone, for what no table has a part in."""
    database = sqlite_database(tmp_path / "quick.db")
    access = Access(database, passwords=passwords)
    set_policy(access, provider)
    yield access
    database.close()


def set_policy(access: Access, provider: Provider, more: str = "") -> None:
    text = POLICY.format(issuer=provider.issuer, more=f", {more}" if more else "")
    access.policies.edit(text, who="root", now=NOW)


class Browser:
    """The program that logs in: makes the verifier, and brings back what the provider sends."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.verifier = token_urlsafe(48)
        digest = hashlib.sha256(self.verifier.encode()).digest()
        self.challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()

    def agree(self) -> dict[str, str]:
        begun = self.access.oidc.begin(REDIRECT, self.challenge, NOW)
        back = agree(begun.address)
        assert back["state"] == begun.state
        return back

    def finish(self, back: dict[str, str], now: float = NOW) -> Session:
        return self.access.oidc.finish(back["state"], back["code"], self.verifier, now, issuer=back["iss"])


def log_in(access: Access) -> Session:
    browser = Browser(access)
    return browser.finish(browser.agree())


def refusal(access: Access) -> str:
    with pytest.raises(OperationError) as refused:
        log_in(access)
    assert code(refused) == "login-refused"
    return str(refused.value)


def test_who_the_provider_says_it_is_gets_a_session_with_the_roles_of_the_policy(
    door: Access, provider: Provider
) -> None:
    session = log_in(door)
    found = who(door, session.secret)
    assert found is not None
    assert (found.name, found.roles, found.groups) == ("oidc:joe", ("operator",), ("oidc:ops",))
    provider.person["preferred_username"] = "boss"
    boss = who(door, log_in(door).secret)
    assert boss is not None and boss.roles == ("operator", "admin")


def test_a_login_is_finished_once_and_in_time(door: Access) -> None:
    browser = Browser(door)
    back = browser.agree()
    browser.finish(back)
    with pytest.raises(OperationError) as refused:
        browser.finish(back)
    assert "already finished" in str(refused.value)
    late = browser.agree()
    with pytest.raises(OperationError) as refused:
        browser.finish(late, NOW + LIFE)
    assert code(refused) == "login-refused"


def test_a_code_is_worth_nothing_without_its_verifier_state_and_issuer(
    door: Access, provider: Provider
) -> None:
    thief = Browser(door)
    with pytest.raises(OperationError) as refused:
        thief.finish(Browser(door).agree())
    assert "verifier" in str(refused.value)
    mine, other = Browser(door).agree(), Browser(door).agree()
    with pytest.raises(OperationError):
        Browser(door).finish({**mine, "state": other["state"]})
    with pytest.raises(OperationError):
        Browser(door).finish({**mine, "state": token_urlsafe(32)})
    browser = Browser(door)
    with pytest.raises(OperationError) as refused:
        browser.finish({**browser.agree(), "iss": "https://elsewhere.example"})
    assert "elsewhere" in str(refused.value)


def test_a_code_of_another_login_is_refused_by_the_provider(quick: Access) -> None:
    first, second = Browser(quick), Browser(quick)
    stolen, own = first.agree(), second.agree()
    with pytest.raises(OperationError) as refused:
        second.finish({**own, "code": stolen["code"]})
    assert code(refused) == "oidc-provider" and "invalid_grant" in str(refused.value)


LIES: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "another nonce": (lambda claims: {**claims, "nonce": "x"}, "nonce"),
    "no nonce": (lambda claims: {k: v for k, v in claims.items() if k != "nonce"}, "nonce"),
    "another issuer": (lambda claims: {**claims, "iss": claims["iss"] + "/"}, "issuer"),
    "another audience": (lambda claims: {**claims, "aud": "other"}, "another client"),
    "an audience that begins so": (lambda claims: {**claims, "aud": "saltern2"}, "another client"),
    "several audiences": (lambda claims: {**claims, "aud": ["saltern", "other"]}, "issued to another"),
    "another party": (lambda claims: {**claims, "azp": "other"}, "issued to another"),
    "no audience": (lambda claims: {k: v for k, v in claims.items() if k != "aud"}, "another client"),
    "expired": (lambda claims: {**claims, "exp": NOW - 61}, "expired"),
    "no end": (lambda claims: {k: v for k, v in claims.items() if k != "exp"}, "expired"),
    "an end that is a text": (lambda claims: {**claims, "exp": str(int(NOW + 300))}, ""),
    "of the future": (lambda claims: {**claims, "iat": NOW + 61}, "future"),
    "not yet": (lambda claims: {**claims, "nbf": NOW + 61}, "future"),
    "no subject": (lambda claims: {**claims, "sub": ""}, "subject"),
    "no name": (lambda claims: {**claims, "preferred_username": None}, "preferred_username"),
    "a name with a space": (
        lambda claims: {**claims, "preferred_username": "joe admin"},
        "preferred_username",
    ),
    "a list of names": (lambda claims: {**claims, "preferred_username": ["boss"]}, "preferred_username"),
}


def test_claims_that_are_not_of_this_login_are_refused(quick: Access, provider: Provider) -> None:
    for name, (lie, says) in LIES.items():
        provider.claims = lie
        assert says in refusal(quick), name


def added(lie: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda claims: {**claims, **lie}


def test_clocks_may_differ_a_little(quick: Access, provider: Provider) -> None:
    lies: list[dict[str, Any]] = [
        {"exp": NOW - 50},
        {"iat": NOW + 50},
        {"aud": ["saltern"], "azp": "saltern"},
    ]
    for lie in lies:
        provider.claims = added(lie)
        assert log_in(quick)


def unsigned(
    claims: dict[str, Any], header: dict[str, Any], sign: Callable[[bytes], bytes] = lambda _: b""
) -> str:
    parts = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    text = b".".join(parts)
    return (text + b"." + urlsafe_b64encode(sign(text)).rstrip(b"=")).decode()


def test_an_algorithm_is_not_chosen_by_the_token(quick: Access, provider: Provider) -> None:
    """``none``; a shared secret that is the provider's public key; a key of another kind."""
    key = provider.key

    def with_public_key(text: bytes) -> bytes:
        return hmac.new(key.pem(), text, hashlib.sha256).digest()

    shared = {"alg": "HS256", "kid": key.id}
    forged: list[Callable[[dict[str, Any]], str]] = [
        lambda claims: unsigned(claims, {"alg": "none"}),
        lambda claims: unsigned(claims, {"alg": "NONE", "kid": key.id}),
        lambda claims: unsigned(claims, {"alg": "ES256", "kid": key.id}),
        lambda claims: unsigned(claims, shared, with_public_key),
        lambda claims: unsigned(claims, {**shared, "alg": "ES256"}, with_public_key),
        lambda claims: Key("ES256", key.id).sign(claims, {}),
        lambda claims: Key("RS256", key.id).sign(claims, {}),
        lambda claims: key.sign(claims, {"jwk": Key().public(), "kid": "of-the-token"}),
        lambda claims: key.sign(claims, {"crit": ["exp"]}),
        lambda claims: key.sign(claims, {})[:-4] + "AAAA",
        lambda claims: key.sign(claims, {}).rpartition(".")[0] + ".",
        lambda _claims: "not.a.token",
        lambda _claims: "",
        lambda _claims: "x" * 200_000,
    ]
    for number, forge in enumerate(forged):
        provider.sign = forge
        assert "the token of the provider is refused" in refusal(quick), number


def test_an_embedded_key_is_not_used(quick: Access, provider: Provider) -> None:
    mallory = Key("ES256", provider.key.id)
    provider.sign = lambda claims: mallory.sign(
        claims, {"jwk": mallory.public(), "jku": f"{provider.issuer}/keys2"}
    )
    refusal(quick)


def test_keys_change_hands(quick: Access, provider: Provider) -> None:
    old = provider.key
    assert log_in(quick)
    provider.key = Key("EdDSA")
    provider.published = [provider.key, old]
    assert log_in(quick)
    provider.key = Key("RS256")
    provider.published = [provider.key]
    assert log_in(quick)
    provider.key = old  # removed, perhaps because it was stolen
    refusal(quick)


def test_a_key_for_something_else_or_too_short_is_not_used(quick: Access, provider: Provider) -> None:
    provider.use = "enc"
    assert "has no key" in refusal(quick)
    provider.use = "sig"
    key = Key("RS256 short")
    provider.published = [key]
    header = {"alg": "RS256", "kid": key.id}
    provider.sign = lambda claims: unsigned(
        claims, header, lambda text: bytes(key.private.sign(text, PKCS1v15(), SHA256()))
    )
    assert "2048 bits" in refusal(quick)


def test_a_provider_that_calls_itself_otherwise_or_has_no_tls_is_refused(
    quick: Access, provider: Provider
) -> None:
    lies: list[dict[str, Any]] = [
        {"issuer": f"{provider.issuer}/"},
        {"token_endpoint": "http://id.example.org/token"},
        {"jwks_uri": 5},
    ]
    for lie in [*lies, {"jwks_uri": "file:///etc/passwd"}]:
        provider.discovery = added(lie)
        with pytest.raises(OperationError) as refused:
            log_in(quick)
        assert code(refused) == "oidc-provider"


def test_a_provider_that_is_away_is_named(quick: Access) -> None:
    text = "login: {oidc: {issuer: 'http://127.0.0.1:1', client_id: saltern}}"
    quick.policies.edit(text, who="root", now=NOW)
    with pytest.raises(OperationError) as refused:
        log_in(quick)
    assert code(refused) == "oidc-provider" and "127.0.0.1:1" in str(refused.value)


def test_a_browser_is_sent_only_to_loopback_or_where_the_policy_says(
    quick: Access, provider: Provider
) -> None:
    challenge = Browser(quick).challenge
    for address in [
        "https://evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.0.0.1@evil.example/cb",
        "http://localhost:80/cb",
        "http://127.0.0.1:80/cb?x=1",
        "javascript:alert(1)",
        "",
    ]:
        with pytest.raises(OperationError) as refused:
            quick.oidc.begin(address, challenge, NOW)
        assert code(refused) == "login-refused"
    set_policy(quick, provider, 'redirects: ["https://salt.example/console"]')
    assert quick.oidc.begin("https://salt.example/console", challenge, NOW)
    for bad in ("", "short", "x" * 44, "=" * 43):
        with pytest.raises(OperationError):
            quick.oidc.begin(REDIRECT, bad, NOW)


def test_an_address_is_a_name_only_if_the_provider_verified_it(quick: Access, provider: Provider) -> None:
    set_policy(quick, provider, "name_claim: email")
    provider.person |= {"email": "joe@example.org", "email_verified": False}
    assert "verified" in refusal(quick)
    provider.person["email_verified"] = True
    assert log_in(quick).name == "oidc:joe@example.org"


def test_a_client_with_a_secret_sends_it_and_nothing_shows_it(
    quick: Access, provider: Provider, tmp_path: Path
) -> None:
    provider.secret = "s3cret"
    file = tmp_path / "secret"
    set_policy(quick, provider, f"client_secret_file: {file}")
    with pytest.raises(OperationError) as refused:
        log_in(quick)
    assert str(file) in str(refused.value)
    file.write_text("s3cret\n")
    assert log_in(quick)
    assert "s3cret" not in repr(quick.policies.version())


def test_one_who_is_disabled_or_whose_provider_is_gone_is_out(door: Access, provider: Provider) -> None:
    secret = log_in(door).secret
    door.accounts.add(ROOT, Operator(name="oidc:joe", roles=("viewer",)), "", NOW)
    found = who(door, secret)
    assert found is not None and found.roles == ("viewer", "operator")
    door.accounts.change(ROOT, "oidc:joe", NOW, disabled=True)
    assert who(door, secret) is None
    assert "disabled" in refusal(door)
    door.accounts.remove(ROOT, "oidc:joe", NOW)
    secret = log_in(door).secret
    door.policies.edit("login: {}", who="root", now=NOW)
    assert who(door, secret) is None
    with pytest.raises(OperationError) as refused:
        log_in(door)
    assert code(refused) == "login-way"
