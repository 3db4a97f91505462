"""Keys of controllers that count no longer: the root's word for that, which agents keep.

Only the root can say so, as only the root can certify: a controller that was taken over cannot have agents
refuse the others. An agent believes it from any controller, and for good: a key is never used again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from saltern.fleet.protocol.codec import BadMessage, decode, encode
from saltern.fleet.protocol.envelope import Trust
from saltern.fleet.protocol.keys import SigningKey, is_signed
from saltern.fleet.protocol.messages import Certificate, Signed

log = logging.getLogger(__name__)

_WITHDRAWAL = b"saltern withdrawal 1\n"  # certificates begin otherwise: neither passes for the other


def withdraw(root: SigningKey, certificate: Certificate) -> Signed:
    """The root's word that the key of this certificate counts no longer, in whichever certificate it is."""
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
    """The keys, as hex, that the root has withdrawn and that are not known as such; what is no word of the
    root is left out.
    """
    found = frozenset(withdrawn_key(one, trust.fleet, trust.roots) for one in some)
    if "" in found:
        log.warning("a controller was said to be withdrawn, and the root of this fleet has not signed that")
    return found - trust.withdrawn - {""}
