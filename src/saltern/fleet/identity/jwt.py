"""The broker's JWTs: signed claims of operator, account and user. Their contents are decided elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.identity.nkeys import BadKey, Holder, public_text, read_public
from saltern.fleet.protocol.keys import SigningKey, is_signed

_HEADER = base64.urlsafe_b64encode(b'{"typ":"JWT","alg":"ed25519-nkey"}').rstrip(b"=").decode()
UNLIMITED = -1


class BadJwt(ValueError):
    """A text that is not a credential of this fleet; the message says why."""


class UserClaims(Struct, frozen=True, kw_only=True):
    """The claims that an agent checks before it uses its credential."""

    sub: str
    iss: str
    name: str
    iat: int
    exp: int = 0
    nats: dict[str, Any] = {}


def encode(claims: Mapping[str, Any], key: SigningKey, holder: Holder, *, now: float) -> str:
    """Sign claims with the key of an operator or an account."""
    body = {**claims, "iss": public_text(key.public, holder), "iat": int(now)}
    body["jti"] = base64.b32encode(hashlib.sha256(msgspec.json.encode(body)).digest()).rstrip(b"=").decode()
    text = f"{_HEADER}.{_base64(msgspec.json.encode(body))}"
    return f"{text}.{_base64(key.sign(text.encode()))}"


def decode_user(jwt: str) -> UserClaims:
    """The claims of a user JWT that its issuer has signed. The caller must check the issuer."""
    try:
        header, body, signature = jwt.split(".")
        claims = msgspec.json.decode(_plain(body), type=UserClaims)
        issuer, proof = read_public(claims.iss, Holder.ACCOUNT), _plain(signature)
    except (ValueError, msgspec.DecodeError, BadKey):
        raise BadJwt("the credential cannot be read") from None
    if header != _HEADER or not is_signed(issuer, f"{header}.{body}".encode(), proof):
        raise BadJwt("the credential is not signed by its issuer")
    return claims


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _plain(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
