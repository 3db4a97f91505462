"""Trust a controller by the fingerprint of its CA, which a person compares once."""

from __future__ import annotations

import hashlib
import hmac
import ssl

from saltern.fleet.client.address import parse_address
from saltern.fleet.client.session import read_reply
from saltern.fleet.client.transport import Transport, Trust
from saltern.language.diagnostics import Diagnostic, OperationError


class _Unchecked(Trust, frozen=True, kw_only=True):
    """Skips certificate checks: only for the request whose answer is checked by its fingerprint."""

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context


def fetch_ca(address: str, fingerprint: str) -> str:
    """The CA (PEM) of the controller at an address, if it has this fingerprint. No secret is sent."""
    where = parse_address(address)
    transport = Transport(where, _Unchecked())
    try:
        reply = transport.exchange("GET", "/v1/ca", {"Accept": "application/json"}, None)
    finally:
        transport.close()
    ca = str(read_reply(where, reply)["ca"])
    found = ca_fingerprint(ca)
    if not hmac.compare_digest(found, _plain(fingerprint)):
        what = f"the CA of {where} has the fingerprint {found}, not {_plain(fingerprint)}"
        fix = "do not log in: compare with what the controller prints on its own machine"
        raise OperationError(Diagnostic(code="controller-fingerprint", what=what, fix=fix))
    return ca


def ca_fingerprint(ca: str) -> str:
    """SHA-256 of a certificate (PEM), in hexadecimal digits."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(ca)).hexdigest()


def _plain(fingerprint: str) -> str:
    return fingerprint.lower().removeprefix("sha256:").replace(":", "").strip()
