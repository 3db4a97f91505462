"""Verify signatures of private keys (``openssl``, ``ssh``) with the public keys."""

from __future__ import annotations

import binascii
from base64 import b64decode
from importlib import import_module
from typing import Any

from saltern.modules.api.refused import Refused, explain
from saltern.system import files

PARTS: dict[str, str] = {
    "exceptions": "cryptography.exceptions",
    "hashes": "cryptography.hazmat.primitives.hashes",
    "serialization": "cryptography.hazmat.primitives.serialization",
    "padding": "cryptography.hazmat.primitives.asymmetric.padding",
    "rsa": "cryptography.hazmat.primitives.asymmetric.rsa",
    "ec": "cryptography.hazmat.primitives.asymmetric.ec",
}


def _part(name: str) -> Any:
    """A module of the library, untyped: it need not be installed."""
    try:
        return import_module(PARTS[name])
    except ImportError:
        raise Refused(
            "sig_backend: asymmetric needs the Python library 'cryptography'; install saltern[x509]"
        ) from None


def has_signed(key: str, signature: bytes, data: bytes) -> bool:
    """True if the signature, raw or in base64, was made with this key (PEM, or the path of a file)."""
    public = _load(key)
    return any(_fits(public, one, data) for one in _readings(signature))


def _readings(signature: bytes) -> list[bytes]:
    try:
        return [signature, b64decode(b"".join(signature.split()), validate=True)]
    except binascii.Error:
        return [signature]


def _load(key: str) -> Any:
    text = key.encode()
    if not key.lstrip().startswith("-----BEGIN"):
        try:
            text = files.read(key.removeprefix("file://")) or b""
        except OSError as problem:
            raise Refused(explain(problem, key)) from None
    try:
        return _part("serialization").load_pem_public_key(text.strip() + b"\n")
    except ValueError:
        raise Refused(f"{key[:60]!r} is not a public key in PEM form, nor a file with one") from None


def _fits(public: Any, signature: bytes, data: bytes) -> bool:
    digest = _part("hashes").SHA256()
    try:
        if isinstance(public, _part("rsa").RSAPublicKey):
            public.verify(signature, data, _part("padding").PKCS1v15(), digest)
        elif isinstance(public, _part("ec").EllipticCurvePublicKey):
            public.verify(signature, data, _part("ec").ECDSA(digest))
        else:
            public.verify(signature, data)
    except _part("exceptions").InvalidSignature:
        return False
    return True
