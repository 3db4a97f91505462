"""A client of an OpenID Connect provider over HTTPS: its endpoints, its keys, and the ID token for a code."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from msgspec import DecodeError, Struct, ValidationError, json

from saltern.fleet.access.policy import Oidc
from saltern.language.diagnostics import Diagnostic, OperationError

S = TypeVar("S", bound=Struct)
SECONDS = 15.0
MOST = 1_000_000  # bytes of an answer
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Endpoints(Struct, frozen=True, kw_only=True):
    """The provider's published configuration."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Keys(Struct, frozen=True):
    keys: list[dict[str, Any]]


class _Tokens(Struct, frozen=True):
    id_token: str


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        """Refuse redirects: one could send a code or a secret elsewhere."""


class Provider:
    """Fetches the keys again for each login, so that a key that the provider has removed is not accepted."""

    def __init__(self, settings: Oidc) -> None:
        self.settings = settings
        self._opener: OpenerDirector = build_opener(_NoRedirect())

    def endpoints(self) -> Endpoints:
        address = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = self._ask(Request(address), Endpoints)
        if found.issuer != self.settings.issuer:
            given, wanted = found.issuer[:200], self.settings.issuer
            what = f"the provider calls itself {given!r}, but the policy says {wanted!r}"
            raise problem(what, "write 'issuer' in the policy exactly as the provider does")
        for endpoint in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            _check_tls(endpoint)
        return found

    def keys(self, endpoints: Endpoints) -> list[dict[str, Any]]:
        return self._ask(Request(endpoints.jwks_uri), _Keys).keys

    def exchange(self, endpoints: Endpoints, *, code: str, verifier: str, redirect: str) -> str:
        """Exchange a code for its ID token; the provider does that once."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "client_id": self.settings.client_id,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", **self._authorization()}
        return self._ask(
            Request(endpoints.token_endpoint, urlencode(form).encode(), headers), _Tokens
        ).id_token

    def _authorization(self) -> Mapping[str, str]:
        """The ``Authorization`` header of a client with a secret, which is read when needed and
        never kept.
        """
        path = self.settings.client_secret_file
        if not path:
            return {}
        try:
            with open(path, encoding="utf-8") as file:
                secret = file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            what = f"the secret of the client cannot be read from {path}: {getattr(error, 'strerror', error)}"
            raise problem(what, "let the user of the controller read it, and no one else") from None
        pair = f"{quote(self.settings.client_id, safe='')}:{quote(secret, safe='')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _ask(self, request: Request, shape: type[S]) -> S:
        request.add_header("Accept", "application/json")
        where = request.full_url.partition("?")[0]
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                return json.decode(answer.read(MOST), type=shape)
        except HTTPError as error:
            with error:
                what = f"the provider refuses at {where} with status {error.code}{_reason(error.read(MOST))}"
            raise problem(what, "begin the login again; look at the log of the provider") from None
        except (URLError, OSError) as error:
            what = f"the provider cannot be reached at {where}: {getattr(error, 'reason', error)}"
            raise problem(
                what, "check the address in the policy, and the network of the controller"
            ) from None
        except (DecodeError, ValidationError):
            raise problem(
                f"the answer of the provider at {where} cannot be understood", "check 'issuer'"
            ) from None


def _reason(body: bytes) -> str:
    """The error code that the standard defines, if the answer has one."""
    try:
        found = json.decode(body)
    except DecodeError:
        return ""
    word = found.get("error") if isinstance(found, dict) else None
    return f": {word[:60]}" if isinstance(word, str) and word.isprintable() else ""


def _check_tls(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise problem(f"the provider names {address[:200]!r}, which has no TLS", "use a provider with TLS")


def problem(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="oidc-provider", what=what, fix=fix))
