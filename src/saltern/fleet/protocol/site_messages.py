"""What the broker of a site asks controllers for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from saltern.fleet.protocol.message import Message, Nonce, Text

Pem = Annotated[str, Meta(max_length=16_384)]


class SiteCertificateRequest(Message, frozen=True, kw_only=True):
    """Ask for a certificate of the broker of a site, for a key that was made there and stays there."""

    nonce: Nonce
    key: Pem


class SiteCertificate(Message, frozen=True, kw_only=True):
    """The certificate with that of the CA, which the site compares with its own, or why there is none."""

    nonce: Nonce = ""
    certificate: Pem = ""
    problem: Text = ""
