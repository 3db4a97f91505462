"""Withdrawn keys of controllers: a statement of the root, which agents store.

Only the root can withdraw, as only the root can certify: a compromised controller cannot make agents refuse
the others. An agent accepts a withdrawal from any controller, and for good: a key is never used again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from saltern.fleet.protocol.codec import BadMessage, decode, encode
from saltern.fleet.protocol.envelope import Trust
from saltern.fleet.protocol.keys import SigningKey, is_signed
from saltern.fleet.protocol.messages import Certificate, Signed

log = logging.getLogger(__name__)

_WITHDRAWAL = b"saltern withdrawal 1\n"  # certificates begin differently, so neither can be used as the other


def withdraw(root: SigningKey, certificate: Certificate) -> Signed:
    """The root's statement that the key of this certificate is withdrawn, in whichever certificate it is."""
    text = encode(certificate)
    return Signed(text=text.decode(), signature=root.sign(_WITHDRAWAL + text))


def withdrawn_key(signed: Signed, fleet: str, roots: Iterable[bytes]) -> str:
    """The key, as hex, if a root of this fleet has withdrawn it; else empty. Pure."""
    text = signed.text.encode()
    if not any(is_signed(root, _WITHDRAWAL + text, signed.signature) for root in roots):
        return ""
    try:
        certificate = decode(Certificate, text)
    except BadMessage:
        return ""
    return certificate.key.hex() if certificate.fleet == fleet else ""


def newly_withdrawn(some: Iterable[Signed], trust: Trust) -> frozenset[str]:
    """The keys, as hex, that the root has withdrawn and that were not known; statements that the root has not
    signed are left out.
    """
    found = frozenset(withdrawn_key(one, trust.fleet, trust.roots) for one in some)
    if "" in found:
        log.warning("a controller was said to be withdrawn, and the root of this fleet has not signed that")
    return found - trust.withdrawn - {""}
