"""``x509.certificate_managed``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.states._programs import guarded
from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.extensions import extensions
from saltern.modules.states.x509.issuing import FORM, Wanted, differences, facts, made
from saltern.modules.states.x509.library import (
    encoding_of,
    load_certificate,
    load_key,
    load_request,
    material,
    part,
    public_bytes,
    signing_digest,
)
from saltern.modules.states.x509.names import name_of
from saltern.modules.states.x509.placing import placed, spot
from saltern.modules.states.x509.requests import check_words
from saltern.system import files

REMAINING = 90
MEANINGLESS = frozenset(
    {"version", "managed_private_key", "copypath", "prepend_cn", "verify_ssl", "ext_mapping"}
)


@state
def certificate_managed(
    ctx: Context,
    /,
    name: str,
    *,
    days_remaining: int | None = None,
    ca_server: str | None = None,
    signing_policy: object = None,
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
    not_before: str | None = None,
    not_after: str | None = None,
    days_valid: int = 365,
    **kwargs: object,
) -> Result:
    """A certificate is there, right in all its parts and not about to expire.

    Args:
        name: the absolute path of the file.
        days_remaining: make a new one when the old one is valid for less than this; 90, or a quarter of
            ``days_valid`` if that is less.
        signing_private_key: the key that signs, a path or PEM text.
        signing_private_key_passphrase: what opens it.
        signing_cert: the certificate of who signs; without it the certificate signs itself.
        public_key, private_key, csr: for which key it is: a public key, a private key, or a request (whose
            name is taken, too, if no other is given). If none is given: for the key that signs.
        private_key_passphrase: what opens ``private_key``.
        subject: the name, or give its parts (``CN``, ``O`` …) as arguments of their own.
        serial_number: a number; one is made up if not given.
        not_before, not_after: ``2026-01-31 12:00:00``, in UTC.
        days_valid: how long it is valid from now on.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        append_certs: certificates to put behind it.
        basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier, authorityKeyIdentifier,
            subjectAltName, crlDistributionPoints, authorityInfoAccess: as OpenSSL writes them.
        ca_server, signing_policy: a certificate from elsewhere; not supported, and refused.
        user, group, mode, makedirs, dir_mode, backup: as in ``file.managed``.

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

    def work() -> Result:
        if ca_server or signing_policy:
            raise Refusal("ca_server and signing_policy are not supported; give signing_private_key")
        if not signing_private_key:
            raise Refusal(
                "'signing_private_key' is missing; for a certificate that signs itself, give its own key"
            )
        if days_valid < 1:
            raise Refusal("days_valid must be 1 or more")
        where = spot(name, kwargs)
        check_words(where.rest, MEANINGLESS)
        encoding_of(encoding)
        signer = load_key(
            material(signing_private_key, "signing_private_key"),
            signing_private_key_passphrase,
            "signing_private_key",
        )
        ca = (
            load_certificate(material(signing_cert, "signing_cert"), "signing_cert") if signing_cert else None
        )
        if ca is not None and public_bytes(ca.public_key()) != public_bytes(signer.public_key()):
            raise Refusal("signing_cert and signing_private_key do not belong together")
        request = load_request(material(csr, "csr"), "csr") if csr else None
        own = _public(public_key, private_key, private_key_passphrase, request, signer)
        named = name_of(subject, where.rest)
        if request is not None and not list(named):
            named = request.subject
        wanted = Wanted(
            subject=named,
            public_key=own,
            issuer=ca.subject if ca is not None else named,
            signer_key=signer,
            digest=signing_digest(signer, digest),
            extensions=_extensions(where.rest, own, ca, signer, request),
            not_before=_moment("not_before", not_before),
            not_after=_moment("not_after", not_after),
            days_valid=days_valid,
            serial=_serial(serial_number),
            chain=_chain(append_certs),
        )
        remaining = min(REMAINING, days_valid // 4) if days_remaining is None else days_remaining
        old = files.read(where.path)
        now = datetime.fromtimestamp(ctx.clock.now(), UTC)
        differs = differences(where.path, old, wanted, now, remaining, encoding)

        def make() -> bytes:
            fresh: bytes = made(wanted, now).public_bytes(encoding_of(encoding))
            return fresh + b"".join(wanted.chain)

        return placed(ctx, where, differs, make, facts, what="certificate")

    return guarded(work, ctx=ctx, foreseen={"created": name}, path=name)


def _public(
    public: str | None, private: str | None, passphrase: str | None, request: Any, signer: Any
) -> Any:
    if sum(one is not None for one in (public, private, request)) > 1:
        raise Refusal("give only one of public_key, private_key and csr")
    if public:
        try:
            return part("serialization").load_pem_public_key(material(public, "public_key"))
        except ValueError:
            raise Refusal("public_key cannot be read; it is no public key in PEM") from None
    if private:
        return load_key(material(private, "private_key"), passphrase, "private_key").public_key()
    if request is not None:
        if not request.is_signature_valid:
            raise Refusal("the signature of the csr is wrong")
        return request.public_key()
    return signer.public_key()


def _extensions(
    rest: Mapping[str, object], own: Any, ca: Any, signer: Any, request: Any
) -> dict[str, tuple[bool, Any]]:
    """What is asked for; alternative names are taken from a request, too, since they are its point."""
    found = extensions(rest, own, ca, signer.public_key())
    if request is not None and "subjectAltName" not in found:
        x509 = part("x509")
        try:
            one = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
            found["subjectAltName"] = (one.critical, one.value)
        except x509.ExtensionNotFound:
            pass
    return found


def _moment(name: str, text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.strptime(text, FORM).replace(tzinfo=UTC)
    except ValueError:
        raise Refusal(f"{name} must look like '2026-01-31 12:00:00', got {text!r}") from None


def _serial(given: object) -> int | None:
    if given is None:
        return None
    text = str(given).replace(":", "")
    try:
        return given if isinstance(given, int) else int(text, 16 if ":" in str(given) else 10)
    except ValueError:
        raise Refusal(f"serial_number {given!r} is not a number") from None


def _chain(given: object) -> tuple[bytes, ...]:
    listed = given if isinstance(given, list) else [given] if given else []
    pem = part("serialization").Encoding.PEM
    return tuple(
        load_certificate(material(str(one), "append_certs"), "append_certs").public_bytes(pem)
        for one in listed
    )
