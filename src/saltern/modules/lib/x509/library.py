"""Access to ``cryptography``: an extra, imported when the first key is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from saltern.modules.api.refused import Refused

PARTS: dict[str, str] = {
    "x509": "cryptography.x509",
    "oid": "cryptography.x509.oid",
    "hashes": "cryptography.hazmat.primitives.hashes",
    "serialization": "cryptography.hazmat.primitives.serialization",
    "pkcs7": "cryptography.hazmat.primitives.serialization.pkcs7",
    "pkcs12": "cryptography.hazmat.primitives.serialization.pkcs12",
    "rsa": "cryptography.hazmat.primitives.asymmetric.rsa",
    "ec": "cryptography.hazmat.primitives.asymmetric.ec",
    "ed25519": "cryptography.hazmat.primitives.asymmetric.ed25519",
    "ed448": "cryptography.hazmat.primitives.asymmetric.ed448",
    "padding": "cryptography.hazmat.primitives.asymmetric.padding",
}
DIGESTS = (
    "sha256",
    "sha384",
    "sha512",
    "sha224",
    "sha512_224",
    "sha512_256",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha1",
)


def part(name: str) -> Any:
    """A module of the library, untyped: it need not be installed."""
    try:
        return import_module(PARTS[name])
    except ImportError:
        raise Refused(
            "x509 needs the Python library 'cryptography', which is not installed; install saltern[x509]"
        ) from None


def digest(name: str) -> Any:
    if str(name).lower() not in DIGESTS:
        raise Refused(f"no digest is called {name!r}; use one of {', '.join(DIGESTS)}")
    return getattr(part("hashes"), name.upper())()


def signing_digest(key: Any, name: str) -> Any:
    """The digest for a signature with this key; Edwards keys have their own."""
    chosen = digest(name)
    edwards = (part("ed25519").Ed25519PrivateKey, part("ed448").Ed448PrivateKey)
    return None if isinstance(key, edwards) else chosen


def digest_change(found: Any, wanted: Any) -> dict[str, object]:
    """The change of the digest in a signature; none for a key that has its own digest."""
    now = found.signature_hash_algorithm
    same = wanted is None or now is None or now.name == wanted.name
    return {} if same else {"digest": wanted.name}


def public_bytes(key: Any) -> bytes:
    serialization = part("serialization")
    found: bytes = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return found


def public_pem(key: Any) -> str:
    forms = part("serialization")
    found: bytes = key.public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    return found.decode()


def same_key(first: Any, second: Any) -> bool:
    """True if two public keys are the same."""
    return public_bytes(first) == public_bytes(second)


def key_type(key: Any) -> str | None:
    """``rsa``, ``ec``, ``ed25519`` or ``ed448``, of a public or a private key."""
    kinds = {"rsa": "RSA", "ec": "EllipticCurve", "ed25519": "Ed25519", "ed448": "Ed448"}
    for name, title in kinds.items():
        if isinstance(key, tuple(getattr(part(name), f"{title}{half}Key") for half in ("Private", "Public"))):
            return name
    return None


def signed_by(certificate: Any, public: Any) -> bool:
    """True if the signature was made with this key, whatever the names are."""
    signed = (certificate.signature, certificate.tbs_certificate_bytes)
    try:
        if isinstance(public, part("rsa").RSAPublicKey):
            public.verify(
                *signed, certificate.signature_algorithm_parameters, certificate.signature_hash_algorithm
            )
        elif isinstance(public, part("ec").EllipticCurvePublicKey):
            public.verify(*signed, part("ec").ECDSA(certificate.signature_hash_algorithm))
        else:
            public.verify(*signed)
    except Exception:  # the library has many exceptions for invalid signatures
        return False
    return True
