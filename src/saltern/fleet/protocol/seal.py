"""Sealed boxes: data that one agent can open, and only for what it was sealed for.

A box of libsodium (X25519, XSalsa20-Poly1305, an ephemeral key for each). The fleet, the agent and the
purpose are in it as a digest, so that a box cannot be used as another one. A box does not prove who
made it: the envelope around it does.
"""

from __future__ import annotations

import hashlib
from hmac import compare_digest

import msgspec

from saltern.fleet.protocol.keys import SealingKey, seal_to

_VERSION = b"\x01"
_DIGEST = 32


class SealBroken(Exception):
    """The box is damaged, or was sealed to another key or for another purpose."""


class SealedFor(msgspec.Struct, frozen=True, kw_only=True):
    """What a box is bound to."""

    fleet: str
    system: str
    purpose: str

    def digest(self) -> bytes:
        said = msgspec.json.encode([self.fleet, self.system, self.purpose])
        return hashlib.sha256(b"saltern sealed 1\n" + said).digest()


def seal(data: bytes, public: bytes, bound: SealedFor) -> bytes:
    return _VERSION + seal_to(public, bound.digest() + data)


def open_seal(box: bytes, key: SealingKey, bound: SealedFor) -> bytes:
    """The contents of the box; ``SealBroken`` if it is not for this key and this purpose."""
    if box[:1] != _VERSION:
        raise SealBroken("the sealed data is of a version that is not known here")
    try:
        opened = key.open(box[1:])
    except ValueError:
        raise SealBroken("the sealed data cannot be opened with this key") from None
    if not compare_digest(opened[:_DIGEST], bound.digest()):
        raise SealBroken("the sealed data is for another purpose")
    return opened[_DIGEST:]
