"""``x509``: create keys, certificates, requests and revocation lists."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.x509 import certificate as pki
from saltern.modules.lib.x509 import encode, keys, load, request, revocation
from saltern.modules.lib.x509.copies import keep_copy
from saltern.modules.lib.x509.signing_policies import merge_policy, policy_of, short_words
from saltern.modules.lib.x509.words import check_words
from saltern.system import files


def _now(ctx: Context) -> datetime:
    return datetime.fromtimestamp(ctx.clock.now(), UTC).replace(microsecond=0)


def _give(data: bytes, path: str | None, encoding: str, *, raw: bool, mode: int | None = None) -> str | bytes:
    """Return the result, or write it to ``path``."""
    if not path:
        return data if raw else encode.text_of(data, encoding)
    place = absolute(path)
    files.write(place, data, files.Attributes(mode=mode) if mode is not None else files.KEPT)
    return f"PEM written to {path}" if encoding == "pem" else f"written to {path}"


def _holds_key(path: str) -> bool:
    """True if the file contains a private key, encrypted or not."""
    data = files.read(absolute(path))
    try:
        load.open_key(data or b"", None, path)
    except load.WrongPassphrase:
        return True
    except Refused:
        return False
    return True


def _no_other_words(kwargs: Mapping[str, object], ignored: set[str]) -> None:
    """Ignore arguments of older modules; raise for all others."""
    if unknown := [word for word in kwargs if word not in ignored and not word.startswith("__")]:
        raise BadArgument(f"no argument is called {unknown[0]!r}")


def _words(kwargs: Mapping[str, object], more: frozenset[str]) -> dict[str, object]:
    plain = {word: value for word, value in kwargs.items() if not word.startswith("__")}
    check_words(plain, more | {"algorithm", "text", "version"})
    return short_words(plain)


@function
def create_private_key(
    ctx: Context,
    /,
    algo: str = "rsa",
    keysize: int | None = None,
    passphrase: str | None = None,
    encoding: str = "pem",
    pkcs12_encryption_compat: bool = False,
    path: str | None = None,
    raw: bool = False,
    overwrite: bool = False,
    bits: int | None = None,
    **kwargs: object,
) -> str | bytes:
    """Create a private key. Write it to ``path`` with the mode 0400, or return it as PEM text or base64.

    Args:
        algo: ``rsa``, ``ec``, ``ed25519`` or ``ed448``.
        keysize: 2048 and more for RSA, 256, 384 or 521 for EC. ``bits`` is its older name.
        passphrase: the passphrase to encrypt it with.
        encoding: ``pem``, ``der`` or ``pkcs12``.
        pkcs12_encryption_compat: use the weak PKCS#12 encryption that old systems need.
        path: the file. An existing private key is kept; set ``overwrite=True`` to replace it.
        raw: return bytes.

    Example:
        ```console
        $ saltern call x509.create_private_key algo=ec path=/etc/pki/new.key
        local:
            PEM written to /etc/pki/new.key
        ```
    """
    _no_other_words(kwargs, {"cipher", "verbose", "text"})
    with explain_errors(path or "private key"):
        if path and not overwrite and _holds_key(path):
            raise BadArgument(f"{path} contains a private key; set overwrite=True to replace it")
        key = keys.generate(keys.wanted_kind(algo, keysize or bits))
        data = encode.encode_key(key, passphrase, encoding, compatible=pkcs12_encryption_compat)
        return _give(data, path, encoding, raw=raw, mode=0o400)


@function
def create_csr(
    ctx: Context,
    /,
    private_key: str,
    private_key_passphrase: str | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    path: str | None = None,
    raw: bool = False,
    subject: object = None,
    **kwargs: object,
) -> str | bytes:
    """Create a certificate request. Write it to ``path``, or return it as PEM text or base64.

    Args:
        private_key: a path, PEM text, hexadecimal digits or base64; ``private_key_passphrase`` is its
            passphrase.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        path: the file.
        raw: return bytes.
        subject: the name, or give its parts (``CN``, ``O`` …); further arguments are extensions, as in
            ``x509.csr_managed``.

    Example:
        ```console
        $ saltern call x509.create_csr /etc/pki/www.key CN=www.example.org path=/etc/pki/new.csr
        local:
            PEM written to /etc/pki/new.csr
        ```
    """
    with explain_errors("csr"):
        encode.check_encoding(encoding, encode.OTHER_ENCODINGS)
        given = _words(kwargs, frozenset())
        digest = str(given.pop("digest", digest))
        want = request.wanted_request(
            {**given, "subject": subject}, private_key, private_key_passphrase, digest
        )
        data = encode.encode_other(request.made_request(want), encoding)
        return _give(data, path, encoding, raw=raw)


@function
def create_certificate(
    ctx: Context,
    /,
    ca_server: str | None = None,
    signing_policy: str | None = None,
    encoding: str = "pem",
    append_certs: object = None,
    pkcs12_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    pkcs12_friendlyname: str | None = None,
    path: str | None = None,
    overwrite: bool = True,
    raw: bool = False,
    **kwargs: object,
) -> str | bytes:
    """Create a certificate. Write it to ``path``, or return it as PEM text or base64.

    Args:
        ca_server: not supported.
        signing_policy: a policy of ``x509_signing_policies`` in the pillar or the configuration.
        encoding: ``pem``, ``der``, ``pkcs7_pem``, ``pkcs7_der``, or ``pkcs12`` with the private key in it.
        append_certs: certificates to put after it.
        pkcs12_passphrase: the passphrase for PKCS#12; ``pkcs12_encryption_compat``: weak, for old systems.
        pkcs12_friendlyname: the name of the certificate in PKCS#12.
        path: the file; ``overwrite=False`` keeps an existing one.
        raw: return bytes.
        signing_private_key, signing_cert, private_key, csr, subject, CN, days_valid and others: as in
            ``x509.certificate_managed``.

    Example:
        ```console
        $ saltern call x509.create_certificate signing_private_key=/etc/pki/ca.key CN=a path=/etc/pki/a.crt
        local:
            PEM written to /etc/pki/a.crt
        ```
    """
    with explain_errors("certificate"):
        encode.check_encoding(encoding, encode.CERTIFICATE_ENCODINGS)
        if path and not overwrite and files.look(path) is not None:
            return f"The file at {path} exists and overwrite was set to false"
        given = _words(kwargs, pki.WORDS | pki.MEANINGLESS | {"pkcs12_embed_private_key"})
        given = merge_policy(policy_of(ctx, signing_policy, ca_server), given)
        want, chain = pki.read_wanted(given), pki.chain_of(append_certs)
        if encoding == "der" and chain:
            raise BadArgument("DER can contain only one certificate; append_certs needs another encoding")
        made = pki.make_certificate(want, _now(ctx))
        data = encode.encode_certificate(
            made,
            encoding,
            chain,
            key=want.private_key if encoding == "pkcs12" else None,
            passphrase=pkcs12_passphrase,
            compatible=pkcs12_encryption_compat,
            friendly_name=pkcs12_friendlyname,
        )
        keep_copy(made, given.get("copypath"), bool(given.get("prepend_cn")))
        secret = 0o600 if encoding == "pkcs12" else None
        return _give(data, path, encoding, raw=raw, mode=secret)


@function
def create_crl(
    ctx: Context,
    /,
    signing_private_key: str,
    revoked: list[Any],
    signing_cert: str | None = None,
    signing_private_key_passphrase: str | None = None,
    include_expired: bool = False,
    days_valid: int | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    extensions: dict[str, object] | None = None,
    path: str | None = None,
    raw: bool = False,
    **kwargs: object,
) -> str | bytes:
    """Create a revocation list. Write it to ``path``, or return it as PEM text or base64.

    Args:
        signing_private_key: the key that signs; ``signing_private_key_passphrase`` is its passphrase.
        revoked: the entries, as in ``x509.crl_managed``.
        signing_cert: the certificate of the signer.
        include_expired: also list expired certificates.
        days_valid: how many days the list is valid from now on; 100 if not given.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        extensions: as in ``x509.crl_managed``; ``cRLNumber`` must be a number here.
        path: the file.
        raw: return bytes.

    Example:
        ```console
        $ saltern call x509.create_crl /etc/pki/ca.key '[{serial_number: 1F}]' /etc/pki/ca.crt path=/tmp/b.crl
        local:
            PEM written to /tmp/b.crl
        ```
    """
    _no_other_words(kwargs, {"text"})
    with explain_errors("crl"):
        encode.check_encoding(encoding, encode.OTHER_ENCODINGS)
        now = _now(ctx)
        want = revocation.wanted_list(
            signing_private_key=signing_private_key,
            revoked=revoked,
            now=now,
            signing_cert=signing_cert,
            passphrase=signing_private_key_passphrase,
            include_expired=include_expired,
            days_valid=days_valid,
            digest=digest,
            extensions=extensions,
        )
        data = encode.encode_other(revocation.made_list(want, now), encoding)
        return _give(data, path, encoding, raw=raw)
