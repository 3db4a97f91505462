"""Keys in the broker's format: Ed25519 in base32, with a letter for the kind of holder."""

from __future__ import annotations

import base64
import binascii
from enum import Enum

from saltern.fleet.protocol.keys import SIZE, SigningKey

_SEED = 18 << 3  # the letter S


class Holder(Enum):
    """The kind of holder of a key; the value is the first byte."""

    OPERATOR = 14 << 3
    ACCOUNT = 0
    USER = 20 << 3


class BadKey(ValueError):
    """The text is not a key, or a key of another kind."""


def public_text(public: bytes, holder: Holder) -> str:
    """A public key, such as ``UABC…``."""
    return _armour(bytes([holder.value]) + public)


def seed_text(key: SigningKey, holder: Holder) -> str:
    """A private key, such as ``SUABC…``."""
    head = bytes([_SEED | holder.value >> 5, (holder.value & 31) << 3])
    return _armour(head + key.seed)


def read_public(text: str, holder: Holder) -> bytes:
    data = _strip_armour(text)
    if data[0] != holder.value or len(data) != SIZE + 1:
        raise BadKey(f"this is not the public key of a {holder.name.lower()}")
    return data[1:]


def read_seed(text: str, holder: Holder) -> SigningKey:
    data = _strip_armour(text)
    kind = (data[0] & 7) << 5 | data[1] >> 3 if len(data) == SIZE + 2 else -1
    if data[0] & 0xF8 != _SEED or kind != holder.value:
        raise BadKey(f"this is not the private key of a {holder.name.lower()}")
    return SigningKey(data[2:])


def _armour(data: bytes) -> str:
    check = binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(data + check).rstrip(b"=").decode()


def _strip_armour(text: str) -> bytes:
    try:
        data = base64.b32decode(text + "=" * (-len(text) % 8))
    except ValueError:
        raise BadKey("this is not a key") from None
    if len(data) < 4 or binascii.crc_hqx(data[:-2], 0).to_bytes(2, "little") != data[-2:]:
        raise BadKey("this is not a key, or a damaged one")
    return data[:-2]
