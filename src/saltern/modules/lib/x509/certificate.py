"""Certificates: the specification from arguments, the comparison with an existing one, and creation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import extensions as table
from saltern.modules.lib.x509.library import digest_change, part, same_key, signed_by, signing_digest
from saltern.modules.lib.x509.load import (
    Certificate,
    load_certificate,
    load_key,
    load_public,
    load_request,
)
from saltern.modules.lib.x509.material import material
from saltern.modules.lib.x509.names import name_of
from saltern.modules.lib.x509.times import FORM, days_later, moment, serial
from saltern.modules.lib.x509.values import as_list

DAYS_VALID = 365
WORDS = frozenset(
    {
        "digest",
        "signing_private_key",
        "signing_private_key_passphrase",
        "signing_cert",
        "public_key",
        "private_key",
        "private_key_passphrase",
        "csr",
        "subject",
        "serial_number",
        "not_before",
        "not_after",
        "days_valid",
        "copypath",
        "prepend_cn",
    }
)
# Arguments of older states, or for another machine; they have no effect.
MEANINGLESS = frozenset({"version", "text", "serial_bits", "minions", "managed_private_key", "verify_ssl"})


class Wanted(Struct, frozen=True, kw_only=True):
    """The specification of a certificate."""

    subject: Any
    public_key: Any
    private_key: Any  # of the certificate, if known
    issuer: Any
    signer: Any  # the certificate of the signer, or None if self-signed
    signer_key: Any
    digest: Any
    extensions: table.Made
    not_before: datetime | None
    not_after: datetime | None
    days_valid: int
    serial: int | None


def read_wanted(given: Mapping[str, object]) -> Wanted:
    """The specification from the arguments, merged with the policy."""
    signer_key = _signer_key(given)
    ca = _load_material(given, "signing_cert", load_certificate)
    if ca is not None and not same_key(ca.public_key(), signer_key.public_key()):
        raise Refused("signing_cert and signing_private_key do not belong together")
    request = _load_material(given, "csr", load_request)
    if request is not None and not request.is_signature_valid:
        raise Refused("the signature of the csr is wrong")
    private = signer_key if ca is None else _private(given)
    public = _public(given, private, request)
    named = name_of(given.get("subject"), given)
    if request is not None and not list(named):
        named = request.subject
    asked = table.extensions(
        given, table.CERTIFICATE, public_key=public, signer=ca, signer_key=signer_key.public_key()
    )
    return Wanted(
        subject=named,
        public_key=public,
        private_key=private,
        issuer=ca.subject if ca is not None else named,
        signer=ca,
        signer_key=signer_key,
        digest=signing_digest(signer_key, str(given.get("digest") or "sha256")),
        extensions=asked if request is None else table.copy_extensions(request, asked),
        not_before=moment("not_before", given.get("not_before")),
        not_after=moment("not_after", given.get("not_after")),
        days_valid=days(given.get("days_valid")),
        serial=serial(given.get("serial_number")),
    )


def days(given: object) -> int:
    if given is None:
        return DAYS_VALID
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise Refused(f"days_valid must be 1 or more, got {given!r}")
    return given


def chain_of(given: object) -> tuple[Any, ...]:
    return tuple(load_certificate(material(one, "append_certs"), "append_certs") for one in as_list(given))


def _load_material(given: Mapping[str, object], word: str, load: Any) -> Any:
    value = given.get(word)
    return load(material(value, word), word) if value else None


def _key(given: Mapping[str, object], word: str) -> Any:
    passphrase = given.get(f"{word}_passphrase")
    return load_key(material(given[word], word), str(passphrase) if passphrase else None, word)


def _signer_key(given: Mapping[str, object]) -> Any:
    if not given.get("signing_private_key"):
        raise Refused("'signing_private_key' is missing; for a self-signed certificate, give its own key")
    return _key(given, "signing_private_key")


def _private(given: Mapping[str, object]) -> Any:
    return _key(given, "private_key") if given.get("private_key") else None


def _public(given: Mapping[str, object], private: Any, request: Any) -> Any:
    """The public key: from a private key, else a public one, else a request."""
    if private is not None:
        return private.public_key()
    if given.get("public_key"):
        return _load_material(given, "public_key", load_public)
    if request is not None:
        return request.public_key()
    raise Refused("signing_cert is given, so the certificate needs private_key, public_key or csr")


# -- compared ------------------------------------------------------------------------------------------


def differences(found: Any, want: Wanted, now: datetime, remaining: int) -> dict[str, object]:
    """The differences of a certificate, by Salt's names; empty if it may stay."""
    changes: dict[str, object] = _times(found, want, now, remaining)
    changes |= digest_change(found, want.digest)
    if want.serial is not None and found.serial_number != want.serial:
        changes["serial_number"] = want.serial
    if not same_key(found.public_key(), want.public_key):
        changes["private_key"] = True
    elif want.signer is None and not signed_by(found, want.signer_key.public_key()):
        changes["signing_private_key"] = True
    if want.signer is not None and not signed_by(found, want.signer_key.public_key()):
        changes["signing_private_key"] = True
    for name in ("subject", "issuer"):
        if getattr(found, name) != getattr(want, name):
            changes[f"{name}_name"] = getattr(want, name).rfc4514_string()
    if parts := table.differences(want.extensions, found.extensions):
        changes["extensions"] = parts
    return changes


def _times(found: Any, want: Wanted, now: datetime, remaining: int) -> dict[str, object]:
    """The differences of times: a fixed end is compared; otherwise the remaining validity counts."""
    changes: dict[str, object] = {}
    if want.not_after is None and found.not_valid_after_utc < days_later(now, remaining):
        changes["expiration"] = True
    for name, here in (("not_before", found.not_valid_before_utc), ("not_after", found.not_valid_after_utc)):
        want_time = getattr(want, name)
        if want_time is not None and here != want_time:
            changes[name] = want_time.strftime(FORM)
    return changes


def same_chain(found: Certificate, chain: tuple[Any, ...]) -> bool:
    return found.chain == chain


# -- made ----------------------------------------------------------------------------------------------


def make_certificate(want: Wanted, now: datetime) -> Any:
    x509 = part("x509")
    start = want.not_before or now.replace(microsecond=0)
    end = want.not_after or days_later(now.replace(microsecond=0), want.days_valid)
    if end <= start:
        raise Refused("not_after is before not_before")
    builder = (
        x509.CertificateBuilder()
        .subject_name(want.subject)
        .issuer_name(want.issuer)
        .public_key(want.public_key)
        .serial_number(want.serial or x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )
    return _sign(table.add(builder, want.extensions), want.signer_key, want.digest)


def _sign(builder: Any, key: Any, digest: Any) -> Any:
    try:
        return builder.sign(key, digest)
    except Exception as problem:  # the library has its own exception for unsupported features
        raise Refused(f"the certificate cannot be signed: {problem}") from None


def common_name(certificate: Any) -> str | None:
    found = certificate.subject.get_attributes_for_oid(part("oid").NameOID.COMMON_NAME)
    return str(found[0].value) if found else None
