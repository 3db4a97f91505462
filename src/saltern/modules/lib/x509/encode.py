"""Encode keys, certificates, requests and revocation lists: PEM, DER, PKCS#7, PKCS#12."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.library import part

KEY_ENCODINGS = ("pem", "der", "pkcs12")
CERTIFICATE_ENCODINGS = ("pem", "der", "pkcs7_pem", "pkcs7_der", "pkcs12")
OTHER_ENCODINGS = ("pem", "der")
OLD_ROUNDS = 50000  # the limit of old systems


def check_encoding(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise Refused(f"the encoding {name!r} is not supported; use one of {', '.join(known)}")


def text_of(data: bytes, encoding: str) -> str:
    """The data as text: PEM unchanged, everything else in base64."""
    return data.decode() if encoding in ("pem", "pkcs7_pem") else base64.b64encode(data).decode()


def form(encoding: str) -> Any:
    return getattr(part("serialization").Encoding, encoding.rpartition("_")[2].upper())


def encode_key(key: Any, passphrase: str | None, encoding: str, *, compatible: bool = False) -> bytes:
    check_encoding(encoding, KEY_ENCODINGS)
    serialization = part("serialization")
    lock = _lock(passphrase, compatible=compatible and encoding == "pkcs12")
    if encoding == "pkcs12":
        held: bytes = part("pkcs12").serialize_key_and_certificates(None, key, None, None, lock)
        return held
    found: bytes = key.private_bytes(form(encoding), serialization.PrivateFormat.PKCS8, lock)
    return found


def _lock(passphrase: str | None, *, compatible: bool) -> Any:
    serialization = part("serialization")
    if not passphrase:
        return serialization.NoEncryption()
    if not compatible:
        return serialization.BestAvailableEncryption(passphrase.encode())
    old = part("pkcs12").PBES.PBESv1SHA1And3KeyTripleDESCBC
    builder = serialization.PrivateFormat.PKCS12.encryption_builder().kdf_rounds(OLD_ROUNDS)
    return builder.key_cert_algorithm(old).hmac_hash(part("hashes").SHA1()).build(passphrase.encode())


def encode_certificate(
    certificate: Any,
    encoding: str,
    chain: Sequence[Any] = (),
    *,
    key: Any = None,
    passphrase: str | None = None,
    compatible: bool = False,
    friendly_name: str | None = None,
) -> bytes:
    """Encode a certificate. ``key`` and the following arguments are for PKCS#12, which contains the private
    key.
    """
    check_encoding(encoding, CERTIFICATE_ENCODINGS)
    if encoding == "der" and chain:
        raise Refused(
            "DER can contain only one certificate; append_certs needs pem, pkcs7_pem, pkcs7_der or pkcs12"
        )
    if encoding == "pkcs12":
        return _container(certificate, chain, key, _lock(passphrase, compatible=compatible), friendly_name)
    if key is not None:
        raise Refused("only the encoding pkcs12 can contain a private key")
    if encoding.startswith("pkcs7"):
        bundle: bytes = part("pkcs7").serialize_certificates([certificate, *chain], form(encoding))
        return bundle
    return b"".join(one.public_bytes(form(encoding)) for one in (certificate, *chain))


def _container(certificate: Any, chain: Sequence[Any], key: Any, lock: Any, name: str | None) -> bytes:
    if key is None:
        raise Refused("the encoding pkcs12 needs a private_key, which the container includes")
    label = name.encode() if name else None
    held: bytes = part("pkcs12").serialize_key_and_certificates(
        label, key, certificate, list(chain) or None, lock
    )
    return held


def encode_other(thing: Any, encoding: str) -> bytes:
    """Encode a request or a revocation list."""
    check_encoding(encoding, OTHER_ENCODINGS)
    found: bytes = thing.public_bytes(form(encoding))
    return found
