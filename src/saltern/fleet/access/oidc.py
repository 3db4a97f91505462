"""Logging in at an OpenID Connect provider: authorization code with PKCE.

``begin`` returns the address for the browser; ``finish`` takes the code that came back. The PKCE verifier
stays with the program that began the login, so that a code alone is useless to another program on its
machine.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from secrets import token_urlsafe
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from saltern.fleet.access.id_token import BadIdToken, Claims, read_id_token
from saltern.fleet.access.policies import Policies
from saltern.fleet.access.policy import Oidc
from saltern.fleet.access.provider import Provider
from saltern.fleet.access.sessions import Session, Sessions
from saltern.fleet.store.database import Database
from saltern.fleet.store.logins import Attempt, begin_attempt, end_attempt, prune_logins
from saltern.fleet.store.operators import operator
from saltern.language.diagnostics import Diagnostic, OperationError

LIFE = 600.0  # seconds from the beginning of a login to its end
MOST_GROUPS = 200
OIDC = "oidc"
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_NAME = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")


class Begun(Struct, frozen=True, kw_only=True):
    """Where to send the browser, and the state that must come back with the code."""

    address: str
    state: str


class OidcLogins:
    def __init__(self, database: Database, policies: Policies, sessions: Sessions) -> None:
        self.database, self.policies, self.sessions = database, policies, sessions

    def begin(self, redirect: str, challenge: str, now: float) -> Begun:
        settings = self._settings()
        check_redirect(redirect, settings)
        if not _CHALLENGE.fullmatch(challenge):
            raise _refusal("the challenge is not the base64url of a SHA-256")
        endpoints = Provider(settings).endpoints()
        state, nonce = token_urlsafe(32), token_urlsafe(32)
        attempt = Attempt(nonce=nonce, challenge=challenge, redirect=redirect, expires=now + LIFE)
        with self.database.write() as connection:
            prune_logins(connection, now)
            begin_attempt(connection, state, attempt)
        query = {
            "response_type": "code",
            "client_id": settings.client_id,
            "redirect_uri": redirect,
            "scope": " ".join(settings.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        mark = "&" if urlsplit(endpoints.authorization_endpoint).query else "?"
        return Begun(address=f"{endpoints.authorization_endpoint}{mark}{urlencode(query)}", state=state)

    def finish(self, state: str, code: str, verifier: str, now: float, *, issuer: str = "") -> Session:
        """Begin a session for the person that the provider names. ``issuer`` is the issuer sent back with the
        code.
        """
        settings = self._settings()
        with self.database.write() as connection:
            attempt = end_attempt(connection, state, now)
        if attempt is None:
            raise _refusal("this login has expired, was already finished, or never began")
        if issuer and issuer != settings.issuer:
            raise _refusal(f"the code comes from {issuer[:100]!r}, not from {settings.issuer!r}")
        if not _VERIFIER.fullmatch(verifier) or not _fits(verifier, attempt.challenge):
            raise _refusal("the verifier differs from that of the program that began the login")
        provider = Provider(settings)
        endpoints = provider.endpoints()
        token = provider.exchange(endpoints, code=code, verifier=verifier, redirect=attempt.redirect)
        try:
            claims = read_id_token(token, provider.keys(endpoints), settings, nonce=attempt.nonce, now=now)
            name, groups = person(claims, settings)
        except BadIdToken as problem:
            raise _refusal(f"the token of the provider is refused: {problem}") from None
        self._check_enabled(name)
        return self.sessions.begin(name, OIDC, groups, now)

    def _settings(self) -> Oidc:
        settings = self.policies.current().login.oidc
        if settings is None:
            what, fix = (
                "the policy has no OpenID Connect provider",
                "log in with a password, or add 'login: oidc'",
            )
            raise OperationError(Diagnostic(code="login-way", what=what, fix=fix))
        return settings

    def _check_enabled(self, name: str) -> None:
        with self.database.read() as connection:
            found = operator(connection, name)
        if found is not None and found.disabled:
            raise _refusal(f"{name} is disabled")


def check_redirect(redirect: str, settings: Oidc) -> None:
    """Refuse a redirect other than to loopback or to an address that the policy lists."""
    parts = urlsplit(redirect)
    is_loopback = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1") and not parts.username
    if not (is_loopback and not parts.query and not parts.fragment) and redirect not in settings.redirects:
        raise _refusal(f"the provider must not send anyone to {redirect[:200]!r}")


def person(claims: Claims, settings: Oidc) -> tuple[str, tuple[str, ...]]:
    """The name and the groups from the claims, both with the prefix of the provider."""
    name = claims.get(settings.name_claim)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadIdToken(f"it has no claim {settings.name_claim!r} that could be a name")
    if settings.name_claim == "email" and claims.get("email_verified") is not True:
        raise BadIdToken("the provider has not verified the address")
    given = claims.get(settings.groups_claim, [])
    groups = given if isinstance(given, list) else [given]
    named = [
        group for group in groups if isinstance(group, str) and group.isprintable() and len(group) <= 200
    ]
    return f"{OIDC}:{name}", tuple(f"{OIDC}:{group}" for group in dict.fromkeys(named[:MOST_GROUPS]))


def _fits(verifier: str, challenge: str) -> bool:
    digest = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())


def _refusal(what: str) -> OperationError:
    return OperationError(Diagnostic(code="login-refused", what=what, fix="begin again: saltern login"))
