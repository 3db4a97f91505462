"""``x509.csr_managed``."""

from __future__ import annotations

from typing import Any, Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.encode import OTHER_ENCODINGS, check_encoding, encode_other
from saltern.modules.lib.x509.extensions import OF_THE_SIGNER
from saltern.modules.lib.x509.load import encoding_of_text, load_request
from saltern.modules.lib.x509.request import (
    WantedRequest,
    made_request,
    request_differences,
    wanted_request,
)
from saltern.modules.lib.x509.signing_policies import short_words
from saltern.modules.lib.x509.words import check_words
from saltern.modules.lib.x509.write import FileAndNames, spot, write_if_different

MEANINGLESS = frozenset({"version", "text", "digest"})


@state
def csr_managed(
    ctx: Context,
    /,
    name: str,
    *,
    private_key: str,
    private_key_passphrase: str | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    subject: object = None,
    **kwargs: Unpack[FileAndNames],
) -> Result:
    """Make sure that a certificate request for a key and a name exists.

    A request that only has another encoding is encoded again, not replaced.

    Args:
        name: the absolute path of the file.
        private_key: the path of the private key, or its PEM text.
        private_key_passphrase: its passphrase.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        subject: the name, as a mapping, a list or ``CN=www.example.org,O=Example``; or give its parts as
            separate arguments: ``CN``, ``O``, ``OU``, ``C``, ``ST``, ``L``, ``MAIL`` …
        basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier, subjectAltName,
            certificatePolicies, policyConstraints, inhibitAnyPolicy, nameConstraints, noCheck, tlsfeature:
            extensions of the certificate in OpenSSL's syntax: ``critical, CA:FALSE``.

    Example:
        ```yaml
        /etc/pki/www.csr:
          x509.csr_managed:
            - private_key: /etc/pki/www.key
            - CN: www.example.org
            - subjectAltName: DNS:www.example.org
        ```
    """
    ctx.facts = {"path": name}
    ctx.foreseen = {"created": name}
    where = spot(name, kwargs)
    check_words(where.rest, MEANINGLESS | {"algorithm"})
    check_encoding(encoding, OTHER_ENCODINGS)
    given = short_words(where.rest)
    want = wanted_request(
        {**given, "subject": subject},
        private_key,
        private_key_passphrase,
        str(given.get("digest") or digest),
    )
    old, changes = _compare_request(where.read(), where.path, want, encoding)

    def make() -> bytes:
        stays = old is not None and set(changes) <= {"encoding"}
        return encode_other(old if stays else made_request(want), encoding)

    ignored = tuple(
        f"a request cannot ask for {word}: the signer decides it" for word in given if word in OF_THE_SIGNER
    )
    return write_if_different(
        ctx, where, changes, make, _facts, what="certificate signing request", warnings=ignored
    )


def _compare_request(
    data: bytes | None, path: str, want: WantedRequest, encoding: str
) -> tuple[Any, dict[str, object]]:
    """The existing request, and its differences."""
    if data is None:
        return None, {"created": path}
    try:
        old = load_request(data, path)
        changes = request_differences(old, want)
    except Refused:
        return None, {"replaced": path}
    if encoding_of_text(data) != encoding:
        changes = {"encoding": encoding, **changes}
    return old, changes


def _facts(data: bytes | None) -> dict[str, object]:
    if data is None:
        return {"subject": None}
    try:
        return {"subject": load_request(data, "the request").subject.rfc4514_string()}
    except Refused:  # in test mode the old file is still there, whatever it holds
        return {"subject": None}
