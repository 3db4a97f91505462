"""Ed25519 and X25519 keys as the protocol uses them: 32 bytes, and the few operations on them."""

from __future__ import annotations

import hashlib
import secrets

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

SIZE = 32


class SigningKey:
    """An Ed25519 key. It prints its fingerprint, never itself."""

    def __init__(self, seed: bytes) -> None:
        self._seed = _sized(seed)
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    @classmethod
    def new(cls) -> SigningKey:
        return cls(secrets.token_bytes(SIZE))

    @property
    def seed(self) -> bytes:
        return self._seed

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    def __repr__(self) -> str:
        return f"<SigningKey {fingerprint(self.public)}>"


class SealingKey:
    """An X25519 key: what is sealed to its public part, only it can open."""

    def __init__(self, seed: bytes) -> None:
        self._seed = _sized(seed)
        self.private = X25519PrivateKey.from_private_bytes(seed)
        self.public = self.private.public_key().public_bytes_raw()

    @classmethod
    def new(cls) -> SealingKey:
        return cls(secrets.token_bytes(SIZE))

    @property
    def seed(self) -> bytes:
        return self._seed

    def __repr__(self) -> str:
        return f"<SealingKey {fingerprint(self.public)}>"


def is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """True if the signature of ``data`` was made with the private part of ``public``."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def sealing_public(public: bytes) -> X25519PublicKey:
    return X25519PublicKey.from_public_bytes(_sized(public))


def fingerprint(*publics: bytes) -> str:
    """What people compare: 128 bits of a digest, in groups. Several keys have one fingerprint together."""
    digest = hashlib.sha256(b"saltern fingerprint 1\n" + b"".join(publics)).hexdigest()[:32]
    return ":".join(digest[start : start + 4] for start in range(0, len(digest), 4))


def _sized(key: bytes) -> bytes:
    if len(key) != SIZE:
        raise ValueError(f"a key has {SIZE} bytes, and this {len(key)}")
    return key
