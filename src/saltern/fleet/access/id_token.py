"""An ID token → its claims, or why it is refused. Pure: keys, settings and time are given.

The algorithm must be one that the policy lists, whatever the token asks for, and the key must be of the kind
that the algorithm needs. Shared secrets and ``none`` are never accepted.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, json

from saltern.fleet.access.policy import Oidc

if TYPE_CHECKING:
    from jwt import PyJWK

LEEWAY = 60.0  # seconds by which clocks may differ
LONGEST = 100_000
SHORTEST_RSA = 2048  # bits
KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


class BadIdToken(Exception):
    """Why a token is refused."""


Claims = dict[str, Any]


def read_id_token(
    token: str, keys: Sequence[Mapping[str, Any]], settings: Oidc, *, nonce: str, now: float
) -> Claims:
    """The claims of a token that is valid for this login. Raises ``BadIdToken``."""
    claims = _verify(token, keys, settings)
    for check in (_check_issuer, _check_audience):
        check(claims, settings)
    _check_times(claims, now)
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise BadIdToken("it belongs to another login: the nonce differs")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise BadIdToken("it has no subject")
    return claims


def _verify(token: str, keys: Sequence[Mapping[str, Any]], settings: Oidc) -> Claims:
    if len(token) > LONGEST:
        raise BadIdToken("it is too long")
    from jwt import PyJWS  # here, since most controllers have no provider
    from jwt.exceptions import InvalidTokenError, PyJWKError

    signatures = PyJWS()
    try:
        header = signatures.get_unverified_header(token)
        algorithm = str(header.get("alg", ""))
        if algorithm not in settings.algorithms:
            raise BadIdToken(
                f"its algorithm {algorithm[:20]!r} is not one of {', '.join(settings.algorithms)}"
            )
        if "crit" in header:
            raise BadIdToken("it asks for unknown extensions")
        key = _key(keys, header.get("kid"), algorithm)
        claims = json.decode(signatures.decode(token, key.key, algorithms=[algorithm]))
    except (InvalidTokenError, PyJWKError, DecodeError, ValueError, TypeError) as problem:
        raise BadIdToken(f"it is not signed by the provider: {problem}") from None
    if not isinstance(claims, dict):
        raise BadIdToken("it holds no claims")
    return claims


def _key(keys: Sequence[Mapping[str, Any]], id_: object, algorithm: str) -> PyJWK:
    """The key that the token names, if it is of the kind that the algorithm needs."""
    kind = KINDS[algorithm[:2]]
    fitting = [key for key in keys if key.get("kty") == kind and _may_sign(key, algorithm)]
    named = [key for key in fitting if key.get("kid") == id_] if id_ is not None else fitting
    if len(named) != 1:
        raise BadIdToken(f"the provider has no key {str(id_)[:64]!r} for {algorithm}")
    from jwt import PyJWK

    made = PyJWK(dict(named[0]), algorithm)
    if kind == "RSA" and made.key.key_size < SHORTEST_RSA:
        raise BadIdToken(f"the key of the provider is shorter than {SHORTEST_RSA} bits")
    return made


def _may_sign(key: Mapping[str, Any], algorithm: str) -> bool:
    return bool(key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm)


def _check_issuer(claims: Claims, settings: Oidc) -> None:
    if claims.get("iss") != settings.issuer:
        raise BadIdToken(f"its issuer is {str(claims.get('iss'))[:100]!r}, not {settings.issuer!r}")


def _check_audience(claims: Claims, settings: Oidc) -> None:
    given = claims.get("aud")
    audience = given if isinstance(given, list) else [given]
    if settings.client_id not in audience:
        raise BadIdToken("it is meant for another client")
    party = claims.get("azp")
    if (party is not None or len(audience) > 1) and party != settings.client_id:
        raise BadIdToken("it was issued to another client")


def _check_times(claims: Claims, now: float) -> None:
    expires, issued, begins = (_time(claims.get(name)) for name in ("exp", "iat", "nbf"))
    if expires is None or expires <= now - LEEWAY:
        raise BadIdToken("it has expired: compare the clocks of the provider and the controller")
    if issued is None or issued > now + LEEWAY or (begins is not None and begins > now + LEEWAY):
        raise BadIdToken("its time is in the future: compare the clocks of the provider and the controller")


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
