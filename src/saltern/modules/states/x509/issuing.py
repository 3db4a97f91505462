"""Certificates: compared with what they shall be, made, and told of."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.extensions import different
from saltern.modules.states.x509.library import load_certificate, part, public_bytes

FORM = "%Y-%m-%d %H:%M:%S"


class Wanted(Struct, frozen=True, kw_only=True):
    """A certificate as it shall be."""

    subject: Any
    public_key: Any
    issuer: Any
    signer_key: Any
    digest: Any
    extensions: dict[str, tuple[bool, Any]]
    not_before: datetime | None
    not_after: datetime | None
    days_valid: int
    serial: int | None
    chain: tuple[bytes, ...]


def differences(
    path: str, old: bytes | None, wanted: Wanted, now: datetime, remaining: int, encoding: str
) -> dict[str, object]:
    if old is None:
        return {"created": path}
    try:
        found = load_certificate(old, path)
    except Refusal:
        return {"replaced": path}
    changes: dict[str, object] = {}
    for part_name in ("subject", "issuer"):
        here, want = getattr(found, part_name), getattr(wanted, part_name)
        if here != want:
            changes[part_name] = {"old": here.rfc4514_string(), "new": want.rfc4514_string()}
    if public_bytes(found.public_key()) != public_bytes(wanted.public_key):
        changes["private_key"] = True
    if not _signed_by(found, wanted.signer_key):
        changes["signing_private_key"] = True
    if parts := different(wanted.extensions, found.extensions):
        changes["extensions"] = parts
    if (
        wanted.digest is not None
        and getattr(found.signature_hash_algorithm, "name", None) != wanted.digest.name
    ):
        changes["digest"] = wanted.digest.name
    if wanted.serial is not None and found.serial_number != wanted.serial:
        changes["serial_number"] = {"old": found.serial_number, "new": wanted.serial}
    changes |= _times(found, wanted, now, remaining)
    pem = b"-----BEGIN" in old
    if pem != (encoding == "pem"):
        changes["encoding"] = encoding
    if pem and [one.strip() for one in wanted.chain] != _behind(old):
        changes["additional_certs"] = True
    return {"replaced": path, **changes} if changes else {}


def _behind(data: bytes) -> list[bytes]:
    """The certificates behind the first one."""
    end = b"-----END CERTIFICATE-----"
    return [(one + end).strip() for one in data.split(end)[1:-1]]


def _times(found: Any, wanted: Wanted, now: datetime, remaining: int) -> dict[str, object]:
    changes: dict[str, object] = {}
    if wanted.not_after is None and found.not_valid_after_utc < now + timedelta(days=remaining):
        changes["expiration"] = True
    for name, here in (("not_before", found.not_valid_before_utc), ("not_after", found.not_valid_after_utc)):
        want = getattr(wanted, name)
        if want is not None and here != want:
            changes[name] = {"old": here.strftime(FORM), "new": want.strftime(FORM)}
    return changes


def _signed_by(certificate: Any, key: Any) -> bool:
    """Whether the signature was made with this key, whatever the names say."""
    public = key.public_key()
    signed = (certificate.signature, certificate.tbs_certificate_bytes)
    try:
        if isinstance(public, part("rsa").RSAPublicKey):
            public.verify(*signed, part("padding").PKCS1v15(), certificate.signature_hash_algorithm)
        elif isinstance(public, part("ec").EllipticCurvePublicKey):
            public.verify(*signed, part("ec").ECDSA(certificate.signature_hash_algorithm))
        else:
            public.verify(*signed)
    except Exception:  # the library has a class of its own for every way to be wrong
        return False
    return True


def made(wanted: Wanted, now: datetime) -> Any:
    x509 = part("x509")
    start = wanted.not_before or now.replace(microsecond=0)
    end = wanted.not_after or now.replace(microsecond=0) + timedelta(days=wanted.days_valid)
    if end <= start:
        raise Refusal("not_after is before not_before")
    builder = (
        x509.CertificateBuilder()
        .subject_name(wanted.subject)
        .issuer_name(wanted.issuer)
        .public_key(wanted.public_key)
        .serial_number(wanted.serial or x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )
    for critical, value in wanted.extensions.values():
        builder = builder.add_extension(value, critical)
    return builder.sign(wanted.signer_key, wanted.digest)


def facts(data: bytes | None) -> dict[str, object]:
    if data is None:
        return dict.fromkeys(("subject", "issuer", "serial_number", "not_before", "not_after", "sha256"))
    found = load_certificate(data, "the certificate")
    return told(found)


def told(found: Any) -> dict[str, object]:
    """What is known of a certificate; nothing in it is secret."""
    return {
        "subject": found.subject.rfc4514_string(),
        "issuer": found.issuer.rfc4514_string(),
        "serial_number": f"{found.serial_number:x}",
        "not_before": found.not_valid_before_utc.strftime(FORM),
        "not_after": found.not_valid_after_utc.strftime(FORM),
        "sha256": found.fingerprint(part("hashes").SHA256()).hex(),
    }
