"""Join tokens: all that a new machine needs to find and authenticate its fleet. Used once.

A token is a secret. It has the addresses of the brokers, the certificate of their CA, the public root key
that signs for all controllers, and a credential that can ask to join and nothing else. Its holder can
ask to join; the secret in it admits one machine, once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import zlib

import msgspec
from msgspec import Struct

from saltern.fleet.protocol.envelope import Trust
from saltern.fleet.protocol.keys import SigningKey
from saltern.language.diagnostics import Diagnostic, OperationError

PREFIX = "saltern-join-"
VERSION = 1


class JoinToken(Struct, frozen=True, kw_only=True):
    """What is in a token. ``ca`` is a certificate (DER); if it is empty, the machine's own CAs are
    trusted.
    """

    v: int = VERSION
    fleet: str
    servers: tuple[str, ...]
    ca: bytes = b""
    roots: tuple[bytes, ...]
    account: str
    issuer: str
    id: str
    secret: bytes
    credential: str
    expires: float

    @property
    def trust(self) -> Trust:
        return Trust(fleet=self.fleet, roots=self.roots)

    @property
    def ca_fingerprint(self) -> str:
        return hashlib.sha256(self.ca).hexdigest() if self.ca else ""


class TokenRecord(Struct, frozen=True, kw_only=True):
    """The controller's record of a token: enough to check a proof, not enough to make the token again."""

    id: str
    key: bytes
    expires: float
    uses: int = 1
    site: str = ""


def new_secret() -> tuple[str, bytes]:
    """The id of a token and its secret."""
    return secrets.token_hex(4), secrets.token_bytes(16)


def joiner_key(secret: bytes) -> SigningKey:
    """The key of the credential in the token: derived from the secret, so it is not in the token itself."""
    return SigningKey(_derive(secret, b"saltern join credential 1"))


def proof_key(secret: bytes) -> bytes:
    return _derive(secret, b"saltern join proof 1")


def proof(key: bytes, signed: bytes) -> bytes:
    """A code that only a holder of the secret can make for these bytes."""
    return hmac.digest(key, signed, "sha256")


def is_proven(record: TokenRecord, signed: bytes, given: bytes) -> bool:
    return hmac.compare_digest(proof(record.key, signed), given)


def _derive(secret: bytes, purpose: bytes) -> bytes:
    """HKDF (RFC 5869) with SHA-256 and no salt, for one block."""
    return hmac.digest(hmac.digest(bytes(32), secret, "sha256"), purpose + b"\x01", "sha256")


def write_token(token: JoinToken) -> str:
    """The token as one word, which can be pasted into a terminal, a mail and a shell."""
    data = zlib.compress(msgspec.msgpack.encode(token), 9)
    data += zlib.crc32(data).to_bytes(4, "big")
    return PREFIX + base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_token(text: str, now: float) -> JoinToken:
    """The token in a text. Raises an error that says what is wrong with an invalid one."""
    token = _unpack("".join(text.split()))
    if token.expires < now:
        raise _bad(
            f"the join token expired {now - token.expires:.0f} s ago by this machine's clock",
            "make a new one on the controller: saltern fleet tokens new",
        )
    return token


def _unpack(text: str) -> JoinToken:
    again = "copy the whole token: it is one word that begins with " + PREFIX
    if not text.startswith(PREFIX):
        raise _bad("this is not a join token", again)
    word = text.removeprefix(PREFIX)
    try:
        data = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
    except ValueError:
        data = b""
    if len(data) < 5 or zlib.crc32(data[:-4]).to_bytes(4, "big") != data[-4:]:
        raise _bad("the join token is incomplete, or was changed", again)
    try:
        packed = zlib.decompressobj().decompress(data[:-4], 65_536)
        if msgspec.msgpack.decode(packed).get("v") != VERSION:
            raise _bad("the join token is of another version of saltern", "install the controller's version")
        return msgspec.msgpack.decode(packed, type=JoinToken)
    except (zlib.error, msgspec.DecodeError, ValueError, AttributeError):
        raise _bad("the join token is incomplete, or was changed", again) from None


def _bad(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="fleet-token-invalid", what=what, fix=fix))
