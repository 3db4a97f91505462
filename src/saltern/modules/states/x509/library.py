"""The door to ``cryptography``: an extra, imported when the first key is touched."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from saltern.modules.states.file.answers import Later, Refusal
from saltern.system import files

PARTS: dict[str, str] = {
    "x509": "cryptography.x509",
    "oid": "cryptography.x509.oid",
    "hashes": "cryptography.hazmat.primitives.hashes",
    "serialization": "cryptography.hazmat.primitives.serialization",
    "rsa": "cryptography.hazmat.primitives.asymmetric.rsa",
    "ec": "cryptography.hazmat.primitives.asymmetric.ec",
    "ed25519": "cryptography.hazmat.primitives.asymmetric.ed25519",
    "ed448": "cryptography.hazmat.primitives.asymmetric.ed448",
    "padding": "cryptography.hazmat.primitives.asymmetric.padding",
}
DIGESTS = ("sha256", "sha384", "sha512", "sha224", "sha3_256", "sha3_384", "sha3_512")
ENCODINGS = ("pem", "der")


def part(name: str) -> Any:
    """A module of the library. Its types are not known here: it need not be installed."""
    try:
        return import_module(PARTS[name])
    except ImportError:
        raise Refusal(
            "x509 needs the Python library 'cryptography', which is not installed; install saltern[x509]"
        ) from None


def digest(name: str) -> Any:
    if name not in DIGESTS:
        raise Refusal(f"no digest is called {name!r}; these are: {', '.join(DIGESTS)}")
    return getattr(part("hashes"), name.upper())()


def encoding_of(name: str) -> Any:
    if name not in ENCODINGS:
        raise Refusal(f"the encoding {name!r} is not supported; {' and '.join(ENCODINGS)} are")
    return getattr(part("serialization").Encoding, name.upper())


def material(given: str, what: str) -> bytes:
    """PEM text as it is, or the content of the file that is named."""
    if "-----BEGIN" in given:
        return given.encode()
    if not os.path.isabs(given):
        raise Refusal(f"{what} must be the absolute path of a file, or PEM text")
    data = files.read(given)
    if data is None:
        raise Later(f"{what} {given} does not exist")
    return data


def load_key(data: bytes, passphrase: str | None, what: str) -> Any:
    """A private key. Neither it nor its passphrase is ever part of a message."""
    serialization = part("serialization")
    load = serialization.load_pem_private_key if b"-----BEGIN" in data else serialization.load_der_private_key
    try:
        return load(data, passphrase.encode() if passphrase else None)
    except TypeError:
        need = "does not need a passphrase" if passphrase else "needs a passphrase"
        raise WrongPassphrase(f"{what} {need}") from None
    except ValueError:
        if passphrase:
            raise WrongPassphrase(f"{what} cannot be read: another passphrase, or no private key") from None
        raise Refusal(f"{what} cannot be read; it is no private key") from None


class WrongPassphrase(Refusal):
    """The key may be right, but the passphrase does not open it."""


def load_certificate(data: bytes, what: str) -> Any:
    x509 = part("x509")
    load = x509.load_pem_x509_certificate if b"-----BEGIN" in data else x509.load_der_x509_certificate
    try:
        return load(data)
    except ValueError:
        raise Refusal(f"{what} cannot be read; it is no certificate") from None


def load_request(data: bytes, what: str) -> Any:
    x509 = part("x509")
    load = x509.load_pem_x509_csr if b"-----BEGIN" in data else x509.load_der_x509_csr
    try:
        return load(data)
    except ValueError:
        raise Refusal(f"{what} cannot be read; it is no certificate request") from None


def public_bytes(key: Any) -> bytes:
    serialization = part("serialization")
    found: bytes = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return found


def signing_digest(key: Any, name: str) -> Any:
    """Edwards keys bring their own digest."""
    chosen = digest(name)
    edwards = (part("ed25519").Ed25519PrivateKey, part("ed448").Ed448PrivateKey)
    return None if isinstance(key, edwards) else chosen
