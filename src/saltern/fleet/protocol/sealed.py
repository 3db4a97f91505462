"""Sealed boxes: data that one agent can open, and only for what it was sealed for.

HPKE (RFC 9180) with X25519, HKDF-SHA256 and ChaCha20-Poly1305. The fleet, the agent and the purpose go into
the key, so that a box cannot be passed off as another one. A box does not prove who made it: the envelope
around it does.
"""

from __future__ import annotations

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from saltern.fleet.protocol.keys import SealingKey, sealing_public

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
_VERSION = b"\x01"


class SealBroken(Exception):
    """The box is damaged, or was sealed to another key or for another purpose."""


class SealedFor(msgspec.Struct, frozen=True, kw_only=True):
    """What a box is bound to."""

    fleet: str
    system: str
    purpose: str

    def info(self) -> bytes:
        return b"saltern sealed 1\n" + msgspec.json.encode([self.fleet, self.system, self.purpose])


def seal(data: bytes, public: bytes, bound: SealedFor) -> bytes:
    return _VERSION + _SUITE.encrypt(data, sealing_public(public), info=bound.info())


def open_seal(box: bytes, key: SealingKey, bound: SealedFor) -> bytes:
    """What is in the box; ``SealBroken`` if it is not for this key and this purpose."""
    if box[:1] != _VERSION:
        raise SealBroken("the sealed data is of a version that is not known here")
    try:
        return _SUITE.decrypt(box[1:], key.private, info=bound.info())
    except (InvalidTag, ValueError):
        raise SealBroken("the sealed data cannot be opened with this key") from None
