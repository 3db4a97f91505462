"""``x509.certificate_managed``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Unpack

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import certificate as pki
from saltern.modules.lib.x509.copies import keep_copy
from saltern.modules.lib.x509.encode import CERTIFICATE_ENCODINGS, check_encoding, encode_certificate
from saltern.modules.lib.x509.library import part
from saltern.modules.lib.x509.load import (
    Certificate,
    NeedlessPassphrase,
    WrongPassphrase,
    open_certificate,
)
from saltern.modules.lib.x509.signing_policies import merge_policy, policy_of, short_words
from saltern.modules.lib.x509.times import FORM
from saltern.modules.lib.x509.words import check_words
from saltern.modules.lib.x509.write import FORM_ONLY, FileAndNames, spot, write_if_different

REMAINING = 90
# A certificate that only differs in these is encoded again, never reissued.


class Container(Struct, frozen=True, kw_only=True):
    """How the certificate is encoded in its file."""

    encoding: str
    chain: tuple[Any, ...]
    passphrase: str | None
    compatible: bool
    friendly_name: str | None

    def encode(self, certificate: Any, private_key: Any) -> bytes:
        return encode_certificate(
            certificate,
            self.encoding,
            self.chain,
            key=private_key if self.encoding == "pkcs12" else None,
            passphrase=self.passphrase,
            compatible=self.compatible,
            friendly_name=self.friendly_name,
        )


class Found(Struct, frozen=True):
    """The existing certificate, if it can be read, and its differences."""

    certificate: Any
    changes: dict[str, object]

    @property
    def stays(self) -> bool:
        return self.certificate is not None and set(self.changes) <= FORM_ONLY


@state
def certificate_managed(
    ctx: Context,
    /,
    name: str,
    *,
    days_remaining: int | None = None,
    ca_server: str | None = None,
    signing_policy: str | None = None,
    encoding: str = "pem",
    append_certs: object = None,
    digest: str = "sha256",
    signing_private_key: str | None = None,
    signing_private_key_passphrase: str | None = None,
    signing_cert: str | None = None,
    public_key: str | None = None,
    private_key: str | None = None,
    private_key_passphrase: str | None = None,
    csr: str | None = None,
    subject: object = None,
    serial_number: object = None,
    not_before: object = None,
    not_after: object = None,
    days_valid: int | None = None,
    pkcs12_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    pkcs12_friendlyname: str | None = None,
    copypath: str | None = None,
    prepend_cn: bool = False,
    **kwargs: Unpack[FileAndNames],
) -> Result:
    """Make sure that a certificate exists as described and does not expire soon.

    A certificate that only has another encoding, or other certificates after it, is encoded again, not
    reissued.

    Args:
        name: the absolute path of the file.
        days_remaining: issue a new one when the old one is valid for fewer days; 90, or a quarter of
            ``days_valid`` if that is less.
        signing_policy: a policy of ``x509_signing_policies`` in the pillar or the configuration. Its values
            cannot be overridden here.
        signing_private_key: the key that signs, a path or PEM text.
        signing_private_key_passphrase: its passphrase.
        signing_cert: the certificate of the signer; without it the certificate is self-signed, for
            ``signing_private_key``.
        private_key, public_key, csr: the key to certify: a private key, a public key, or a request (whose
            extensions and name are used, too, unless others are given).
        private_key_passphrase: the passphrase of ``private_key``.
        subject: the name, or give its parts (``CN``, ``O`` …) as separate arguments.
        serial_number: a number, or hexadecimal digits in quotes; random if not given.
        not_before, not_after: ``2026-01-31 12:00:00``, in UTC.
        days_valid: how many days it is valid from now on; 365 if not given.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem``, ``der``, ``pkcs7_pem``, ``pkcs7_der``, or ``pkcs12`` with the private key in it
            (the mode is 0600 then, if not given).
        append_certs: certificates to put after it.
        pkcs12_passphrase: the passphrase for PKCS#12.
        pkcs12_encryption_compat: use the weak PKCS#12 encryption that old systems need.
        pkcs12_friendlyname: the name of the certificate in PKCS#12.
        copypath: a directory for a PEM copy of each issued certificate, named after its
            serial number.
        prepend_cn: prefix the name of that copy with the common name.
        basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier, authorityKeyIdentifier,
            subjectAltName, issuerAltName, crlDistributionPoints, authorityInfoAccess, certificatePolicies,
            policyConstraints, inhibitAnyPolicy, nameConstraints, noCheck, tlsfeature: extensions in OpenSSL's
                syntax,
            or as mappings and lists.
        ca_server: not supported: certificates from another machine.

    Example:
        ```yaml
        /etc/pki/www.crt:
          x509.certificate_managed:
            - private_key: /etc/pki/www.key
            - signing_private_key: /etc/pki/ca.key
            - signing_cert: /etc/pki/ca.crt
            - CN: www.example.org
            - subjectAltName: DNS:www.example.org
            - days_valid: 90
        ```
    """
    named = {
        "digest": digest,
        "signing_private_key": signing_private_key,
        "signing_private_key_passphrase": signing_private_key_passphrase,
        "signing_cert": signing_cert,
        "public_key": public_key,
        "private_key": private_key,
        "private_key_passphrase": private_key_passphrase,
        "csr": csr,
        "subject": subject,
        "serial_number": serial_number,
        "not_before": not_before,
        "not_after": not_after,
        "days_valid": days_valid,
        "copypath": copypath,
        "prepend_cn": prepend_cn,
    }

    ctx.facts = {"path": name}
    ctx.foreseen = {"created": name}
    check_encoding(encoding, CERTIFICATE_ENCODINGS)
    where = spot(name, kwargs, "0600" if encoding == "pkcs12" else None)
    check_words(where.rest, pki.MEANINGLESS | {"algorithm"})
    given = merge_policy(policy_of(ctx, signing_policy, ca_server), {**named, **short_words(where.rest)})
    want = pki.read_wanted(given)
    container = Container(
        encoding=encoding,
        chain=pki.chain_of(append_certs),
        passphrase=pkcs12_passphrase,
        compatible=pkcs12_encryption_compat,
        friendly_name=pkcs12_friendlyname,
    )
    now = datetime.fromtimestamp(ctx.clock.now(), UTC)
    remaining = min(REMAINING, want.days_valid // 4) if days_remaining is None else days_remaining
    found = _compare_certificate(where.read(), where.path, want, container, now, remaining)

    def make() -> bytes:
        if found.stays:
            return container.encode(found.certificate, want.private_key)
        certificate = pki.make_certificate(want, now)
        data = container.encode(certificate, want.private_key)
        keep_copy(certificate, given.get("copypath"), bool(given.get("prepend_cn")))
        return data

    return write_if_different(
        ctx, where, found.changes, make, lambda data: _facts(data, pkcs12_passphrase), what="certificate"
    )


def _compare_certificate(
    data: bytes | None,
    path: str,
    want: pki.Wanted,
    container: Container,
    now: datetime,
    remaining: int,
) -> Found:
    if data is None:
        return Found(None, {"created": path})
    try:
        held, changes = _open(data, path, container.passphrase)
    except WrongPassphrase:
        return Found(None, {"replaced": path, "pkcs12_passphrase": True})
    except Refused:
        return Found(None, {"replaced": path})
    changes |= _container_changes(held, container)
    return Found(held.certificate, changes | pki.differences(held.certificate, want, now, remaining))


def _open(data: bytes, path: str, passphrase: str | None) -> tuple[Certificate, dict[str, object]]:
    try:
        return open_certificate(data, path, passphrase), {}
    except NeedlessPassphrase:
        return open_certificate(data, path), {"pkcs12_passphrase": True}


def _container_changes(held: Certificate, container: Container) -> dict[str, object]:
    changes: dict[str, object] = {}
    label = container.friendly_name.encode() if container.friendly_name else None
    if held.encoding != container.encoding:
        changes["encoding"] = container.encoding
    elif container.encoding == "pkcs12" and held.friendly_name != label:
        changes["pkcs12_friendlyname"] = container.friendly_name
    if held.chain != container.chain:
        changes["additional_certs"] = True
    return changes


def _facts(data: bytes | None, passphrase: str | None) -> dict[str, object]:
    unknown = dict.fromkeys(("subject", "issuer", "serial_number", "not_before", "not_after", "sha256"))
    if data is None:
        return dict(unknown)
    try:
        found = _open(data, "the certificate", passphrase)[0].certificate
    except Refused:  # in test mode the old file is still there, whatever it contains
        return dict(unknown)
    return {
        "subject": found.subject.rfc4514_string(),
        "issuer": found.issuer.rfc4514_string(),
        "serial_number": f"{found.serial_number:x}",
        "not_before": found.not_valid_before_utc.strftime(FORM),
        "not_after": found.not_valid_after_utc.strftime(FORM),
        "sha256": found.fingerprint(part("hashes").SHA256()).hex(),
    }
