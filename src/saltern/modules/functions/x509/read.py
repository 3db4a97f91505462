"""``x509``: read certificates, requests and revocation lists."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import glob
import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib.x509 import describe, load
from saltern.modules.lib.x509.material import material


@function
def read_certificate(ctx: Context, certificate: str) -> dict[str, object]:
    """The content of a certificate: names, serial number, times, fingerprints, key, extensions.

    Args:
        certificate: a path, PEM text, hexadecimal digits or base64.

    Example:
        ```console
        $ saltern call x509.read_certificate /etc/pki/www.pem
        ```
    """
    with explain_errors("certificate"):
        found = load.load_certificate(material(certificate, "certificate"), "certificate")
        return describe.certificate(found)


@function
def read_certificates(ctx: Context, glob_path: str) -> dict[str, object]:
    """The contents of the certificates in these files, by path. Other files are skipped.

    Example:
        ```console
        $ saltern call x509.read_certificates '/etc/pki/*.pem'
        ```
    """
    found: dict[str, object] = {}
    with explain_errors("certificate"):
        for path in sorted(glob.glob(glob_path)):
            if os.path.isfile(path):
                try:
                    one = load.load_certificate(material(os.path.abspath(path), "certificate"), path)
                except Refused:
                    continue
                found[path] = describe.certificate(one)
    return found


@function
def read_csr(ctx: Context, csr: str) -> dict[str, object]:
    """The content of a certificate request: its name, key and extensions.

    Example:
        ```console
        $ saltern call x509.read_csr /etc/pki/old.csr
        ```
    """
    with explain_errors("csr"):
        return describe.request(load.load_request(material(csr, "csr"), "csr"))


@function
def read_crl(ctx: Context, crl: str) -> dict[str, object]:
    """The content of a revocation list: its issuer, its time, and the revoked certificates.

    Example:
        ```console
        $ saltern call x509.read_crl /etc/pki/ca.crl
        ```
    """
    with explain_errors("crl"):
        return describe.revocation_list(load.load_list(material(crl, "crl"), "crl"))
