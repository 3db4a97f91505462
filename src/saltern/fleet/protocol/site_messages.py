"""What the broker of a site asks controllers for, and what it answers to its agents."""

from __future__ import annotations

from enum import Enum
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


BLOB_ANSWER = "Saltern-Blob"  # the header that says what a site answers to a request for a piece of a file


class BlobAnswer(Enum):
    """What a site answers; the piece itself is the data."""

    FOUND = "found"
    ABSENT = "absent"  # the fleet was asked, and does not have it
    LATER = "later"  # it is on its way: ask again
    UNAVAILABLE = "unavailable"  # ask the fleet
