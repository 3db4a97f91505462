"""Ed25519 and X25519 keys as the protocol uses them: 32 bytes, and the few operations on them.

Uses libsodium through PyNaCl: it costs an agent 1 MB of memory, where ``cryptography`` costs 7. The only
file that imports it.
"""

from __future__ import annotations

import hashlib
import secrets

import nacl.bindings
import nacl.exceptions

SIZE = 32


class SigningKey:
    """An Ed25519 key. It prints its fingerprint, never itself."""

    def __init__(self, seed: bytes) -> None:
        self._seed = _check_size(seed)
        self.public, self._secret = nacl.bindings.crypto_sign_seed_keypair(seed)

    @classmethod
    def new(cls) -> SigningKey:
        return cls(secrets.token_bytes(SIZE))

    @property
    def seed(self) -> bytes:
        return self._seed

    def sign(self, data: bytes) -> bytes:
        return nacl.bindings.crypto_sign(data, self._secret)[: nacl.bindings.crypto_sign_BYTES]

    def __repr__(self) -> str:
        return f"<SigningKey {fingerprint(self.public)}>"


class SealingKey:
    """An X25519 key: only it can open what is sealed to its public part."""

    def __init__(self, seed: bytes) -> None:
        self._seed = _check_size(seed)
        self.public = nacl.bindings.crypto_scalarmult_base(seed)

    @classmethod
    def new(cls) -> SealingKey:
        return cls(secrets.token_bytes(SIZE))

    @property
    def seed(self) -> bytes:
        return self._seed

    def open(self, box: bytes) -> bytes:
        """What ``seal_to`` this key has sealed; ``ValueError`` for anything else."""
        try:
            return nacl.bindings.crypto_box_seal_open(box, self.public, self._seed)
        except nacl.exceptions.CryptoError:
            raise ValueError("it is not sealed to this key, or damaged") from None

    def __repr__(self) -> str:
        return f"<SealingKey {fingerprint(self.public)}>"


def seal_to(public: bytes, data: bytes) -> bytes:
    """A box that only the private part of ``public`` opens; ``ValueError`` if that is not a key."""
    try:
        return nacl.bindings.crypto_box_seal(data, _check_size(public))
    except (nacl.exceptions.CryptoError, nacl.exceptions.RuntimeError):
        raise ValueError("the sealing key is not a key: it has no shared key with any other") from None


def is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """True if the signature of ``data`` was made with the private part of ``public``."""
    if len(public) != SIZE or len(signature) != nacl.bindings.crypto_sign_BYTES:
        return False
    try:
        nacl.bindings.crypto_sign_open(signature + data, public)
    except nacl.exceptions.CryptoError:
        return False
    return True


def fingerprint(*publics: bytes) -> str:
    """128 bits of a digest, in groups, for people to compare. Several keys can share one fingerprint."""
    digest = hashlib.sha256(b"saltern fingerprint 1\n" + b"".join(publics)).hexdigest()[:32]
    return ":".join(digest[start : start + 4] for start in range(0, len(digest), 4))


def _check_size(key: bytes) -> bytes:
    if len(key) != SIZE:
        raise ValueError(f"a key has {SIZE} bytes, and this {len(key)}")
    return key
