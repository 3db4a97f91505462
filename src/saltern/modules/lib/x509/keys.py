"""Kinds of private keys, and their generation."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.library import key_type, part

CURVES: dict[int, str] = {256: "SECP256R1", 384: "SECP384R1", 521: "SECP521R1"}
SIZES: dict[str, int] = {"rsa": 2048, "ec": 256, "ed25519": 256, "ed448": 456}
SIZED = ("rsa", "ec")


class Kind(Struct, frozen=True):
    """The kind of a private key."""

    algo: str
    keysize: int


def kind_of(key: Any) -> Kind:
    algo = key_type(key)
    if algo is None:
        return Kind(type(key).__name__, 0)
    return Kind(algo, key.key_size if algo in SIZED else SIZES[algo])


def wanted_kind(algo: str, keysize: int | None) -> Kind:
    if algo not in SIZES:
        raise Refused(f"no algo is called {algo!r}; use one of {', '.join(SIZES)}")
    if keysize and algo not in SIZED:
        raise Refused(f"keysize has no effect for {algo}; leave it out")
    size = keysize or SIZES[algo]
    if algo == "rsa" and not 2048 <= size <= 16384:
        raise Refused(f"an RSA key needs a keysize from 2048 to 16384, not {size}")
    if algo == "ec" and size not in CURVES:
        raise Refused(f"an EC key needs a keysize of {', '.join(map(str, CURVES))}, not {size}")
    return Kind(algo, size)


def generate(kind: Kind) -> Any:
    if kind.algo == "rsa":
        return part("rsa").generate_private_key(65537, kind.keysize)
    if kind.algo == "ec":
        ec = part("ec")
        return ec.generate_private_key(getattr(ec, CURVES[kind.keysize])())
    name = {"ed25519": "Ed25519PrivateKey", "ed448": "Ed448PrivateKey"}[kind.algo]
    return getattr(part(kind.algo), name).generate()
