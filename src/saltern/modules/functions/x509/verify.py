"""``x509``: verify keys and signatures."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib.x509 import load
from saltern.modules.lib.x509.library import same_key, signed_by
from saltern.modules.lib.x509.material import material


@function
def verify_private_key(
    ctx: Context, private_key: str, public_key: str, passphrase: str | None = None
) -> bool:
    """True if a private key belongs to a certificate, a request or another key.

    Example:
        ```console
        $ saltern call x509.verify_private_key /etc/pki/www.key /etc/pki/www.pem
        local:
            True
        ```
    """
    with explain_errors("private_key"):
        own = load.load_key(material(private_key, "private_key"), passphrase, "private_key")
        other = load.public_key_of(material(public_key, "public_key"), None, "public_key")
    return same_key(own.public_key(), other)


@function
def verify_signature(
    ctx: Context,
    certificate: str,
    signing_pub_key: str | None = None,
    signing_pub_key_passphrase: str | None = None,
) -> bool:
    """True if a certificate was signed with this key, or with its own if none is given.

    Example:
        ```console
        $ saltern call x509.verify_signature /etc/pki/www.pem /etc/pki/ca.crt
        local:
            True
        ```
    """
    with explain_errors("certificate"):
        found = load.load_certificate(material(certificate, "certificate"), "certificate")
        signer = material(signing_pub_key or certificate, "signing_pub_key")
        return signed_by(found, load.public_key_of(signer, signing_pub_key_passphrase, "signing_pub_key"))


@function
def verify_crl(ctx: Context, crl: str, cert: str) -> bool:
    """True if a revocation list was signed with the key of this certificate.

    Example:
        ```console
        $ saltern call x509.verify_crl /etc/pki/ca.crl /etc/pki/ca.crt
        local:
            True
        ```
    """
    with explain_errors("crl"):
        found = load.load_list(material(crl, "crl"), "crl")
        key = load.public_key_of(material(cert, "cert"), None, "cert")
    try:
        return bool(found.is_signature_valid(key))
    except TypeError:  # a key of a kind that cannot sign
        return False
