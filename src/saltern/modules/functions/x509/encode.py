"""``x509``: convert keys, certificates, requests and lists to another encoding."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib.x509 import encode, load
from saltern.modules.lib.x509.certificate import chain_of
from saltern.modules.lib.x509.material import material


@function
def encode_certificate(
    ctx: Context,
    certificate: str,
    encoding: str = "pem",
    append_certs: object = None,
    private_key: str | None = None,
    private_key_passphrase: str | None = None,
    pkcs12_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    pkcs12_friendlyname: str | None = None,
    raw: bool = False,
) -> str | bytes:
    """Convert a certificate to another encoding, as PEM text or base64.

    Args:
        certificate: a path, PEM text, hexadecimal digits or base64.
        encoding: ``pem``, ``der``, ``pkcs7_pem``, ``pkcs7_der``, or ``pkcs12`` with a private key.
        append_certs: certificates to put after it.
        private_key: the private key to include in PKCS#12; ``private_key_passphrase`` is its passphrase.
        pkcs12_passphrase: the passphrase for PKCS#12; ``pkcs12_encryption_compat``: weak, for old systems.
        pkcs12_friendlyname: the name of the certificate in PKCS#12.
        raw: return bytes.

    Example:
        ```console
        $ saltern call x509.encode_certificate /etc/pki/www.pem encoding=der
        ```
    """
    with explain_errors("certificate"):
        key = None
        if private_key:
            key = load.load_key(material(private_key, "private_key"), private_key_passphrase, "private_key")
        data = encode.encode_certificate(
            load.load_certificate(material(certificate, "certificate"), "certificate"),
            encoding,
            chain_of(append_certs),
            key=key,
            passphrase=pkcs12_passphrase,
            compatible=pkcs12_encryption_compat,
            friendly_name=pkcs12_friendlyname,
        )
    return data if raw else encode.text_of(data, encoding)


@function
def encode_private_key(
    ctx: Context,
    private_key: str,
    encoding: str = "pem",
    passphrase: str | None = None,
    private_key_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    raw: bool = False,
) -> str | bytes:
    """Convert a private key to another encoding, as PEM text or base64. It stays the same key.

    Args:
        private_key: a path, PEM text, hexadecimal digits or base64; ``private_key_passphrase`` is its
            passphrase.
        encoding: ``pem``, ``der`` or ``pkcs12``.
        passphrase: the passphrase of the result.
        pkcs12_encryption_compat: use the weak PKCS#12 encryption that old systems need.
        raw: return bytes.

    Example:
        ```console
        $ saltern call x509.encode_private_key /etc/pki/www.key encoding=der
        ```
    """
    with explain_errors("private_key"):
        key = load.load_key(material(private_key, "private_key"), private_key_passphrase, "private_key")
        data = encode.encode_key(key, passphrase, encoding, compatible=pkcs12_encryption_compat)
    return data if raw else encode.text_of(data, encoding)


@function
def encode_csr(ctx: Context, csr: str, encoding: str = "pem", raw: bool = False) -> str | bytes:
    """Convert a certificate request to another encoding, as PEM text or base64.

    Example:
        ```console
        $ saltern call x509.encode_csr /etc/pki/old.csr encoding=der
        ```
    """
    with explain_errors("csr"):
        data = encode.encode_other(load.load_request(material(csr, "csr"), "csr"), encoding)
    return data if raw else encode.text_of(data, encoding)


@function
def encode_crl(ctx: Context, crl: str, encoding: str = "pem", raw: bool = False) -> str | bytes:
    """Convert a revocation list to another encoding, as PEM text or base64.

    Example:
        ```console
        $ saltern call x509.encode_crl /etc/pki/ca.crl encoding=der
        ```
    """
    with explain_errors("crl"):
        data = encode.encode_other(load.load_list(material(crl, "crl"), "crl"), encoding)
    return data if raw else encode.text_of(data, encoding)
