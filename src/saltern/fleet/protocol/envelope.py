"""Signed envelopes: the fleet root certifies a controller's key, and that key signs each message to an agent.

Permissions of the broker do not stop one agent from placing data on another one's subject (a reply can be
sent anywhere), and a broker may be compromised. So an agent obeys only signed messages. ``verify`` is pure:
everything it needs is passed in, including the time. The agent itself must obey a message only once: it
remembers its ``jid`` or ``nonce`` until ``expires``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from saltern.fleet.protocol.codec import BadMessage, check_depth, decode, encode
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.keys import SigningKey, is_signed
from saltern.fleet.protocol.message import VERSION, Jid, Message, Nonce, Seconds, Word
from saltern.fleet.protocol.messages import KINDS, MESSAGES, Audience, Certificate, Envelope, Signed

SKEW = 120.0  # seconds that two clocks may differ
# Each kind of signature begins with its own text, so that none can be used as one of another kind.
_CERTIFICATE = b"saltern certificate 1\n"
_ENVELOPE = b"saltern envelope 1\n"
EVERYONE = Audience(everyone=True)
MOST_KNOWN = 64  # certificates, each that of a controller
_KNOWN: dict[tuple[tuple[bytes, ...], Signed], Certificate] = {}

M = TypeVar("M", bound=Message)


class Refusal(Enum):
    """Why a signed message is not obeyed."""

    TOO_LARGE = "too-large"
    TOO_DEEP = "too-deep"
    NEWER = "newer"
    MALFORMED = "malformed"
    UNCERTIFIED = "uncertified"
    WITHDRAWN = "withdrawn"
    BAD_SIGNATURE = "bad-signature"
    WRONG_FLEET = "wrong-fleet"
    WRONG_KIND = "wrong-kind"
    EXPIRED = "expired"
    FROM_FUTURE = "from-future"
    NOT_ADDRESSED = "not-addressed"
    WRONG_NONCE = "wrong-nonce"


class Refused(Exception):
    """The message is not obeyed; the text is for the agent's log and its answer."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.refusal = refusal


class Claims(Message, frozen=True, kw_only=True):
    """The signed data: the message, and when, for whom and for what it is valid."""

    fleet: Word
    kind: Word
    audience: Audience
    issued: Seconds
    expires: Seconds
    nonce: Nonce
    jid: Jid | None = None
    body: msgspec.Raw


_CLAIMS = msgspec.json.Decoder(Claims)


class Trust(Struct, frozen=True, kw_only=True):
    """What an agent trusts: its fleet, the public root keys, and the withdrawals: keys as hex, or serials of
    certificates.
    """

    fleet: str
    roots: tuple[Annotated[bytes, Meta(min_length=32, max_length=32)], ...]
    withdrawn: frozenset[str] = frozenset()
    skew: float = SKEW


class Issuer(Struct, kw_only=True):
    """A controller as a signer: its key, and its certificate, which is renewed while it runs."""

    fleet: str
    key: SigningKey
    certificate: Signed

    def issue(
        self,
        message: Message,
        audience: Audience,
        *,
        now: float,
        life: float,
        nonce: str = "",
    ) -> bytes:
        """The envelope, ready to be sent. An answer carries the nonce of its request."""
        claims = Claims(
            fleet=self.fleet,
            kind=KINDS[type(message)],
            audience=audience,
            issued=now,
            expires=now + life,
            nonce=nonce or new_nonce(),
            jid=getattr(message, "jid", None),
            body=msgspec.Raw(encode(message)),
        )
        text = msgspec.json.encode(claims)
        envelope = Envelope(
            signed=text.decode(), signature=self.key.sign(_ENVELOPE + text), certificate=self.certificate
        )
        return encode(envelope)


class Verified(Struct, frozen=True):
    """A message that may be obeyed, and the claims and the certificate it came with."""

    message: Message
    claims: Claims
    certificate: Certificate

    def of(self, shape: type[M]) -> M:
        """The message, if it is one of this shape."""
        if not isinstance(self.message, shape):
            raise Refused(Refusal.WRONG_KIND, f"a {self.claims.kind!r} was sent for a {KINDS[shape]!r}")
        return self.message


def certify(root: SigningKey, certificate: Certificate) -> Signed:
    """The root's certificate for a controller's key."""
    text = encode(certificate)
    return Signed(text=text.decode(), signature=root.sign(_CERTIFICATE + text))


def verify(
    data: bytes,
    trust: Trust,
    *,
    me: str,
    now: float,
    matches: Callable[[str], bool] = lambda _expression: False,
    nonce: str = "",
) -> Verified:
    """The message in an envelope, or ``Refused``.

    ``matches`` says whether a target expression matches this system. With ``nonce``, the message must answer
    the request with that nonce.
    """
    envelope = _decode(Envelope, data)
    certificate = check_certificate(envelope.certificate, trust, now)
    text = envelope.signed.encode()
    if not is_signed(certificate.key, _ENVELOPE + text, envelope.signature):
        raise Refused(Refusal.BAD_SIGNATURE, f"the signature is not that of controller {certificate.name!r}")
    claims = _claims(text)
    _check_claims(claims, trust, now)
    _check_audience(claims.audience, me, matches)
    if nonce and claims.nonce != nonce:
        raise Refused(Refusal.WRONG_NONCE, "it answers another request")
    return Verified(_body(claims), claims, certificate)


def check_certificate(signed: Signed, trust: Trust, now: float) -> Certificate:
    """The certificate, if a root of this fleet has signed it and it is valid now."""
    certificate = _check_certificate(signed, trust.roots)
    if certificate.fleet != trust.fleet:
        raise Refused(Refusal.WRONG_FLEET, f"the certificate is of fleet {certificate.fleet!r}")
    if not trust.withdrawn.isdisjoint((certificate.key.hex(), certificate.serial)):
        raise Refused(Refusal.WITHDRAWN, f"the key of controller {certificate.name!r} was withdrawn")
    _check_times("the certificate", certificate.issued, certificate.expires, trust, now)
    return certificate


def _check_certificate(signed: Signed, roots: tuple[bytes, ...]) -> Certificate:
    """The certificate, if one of the roots has signed it. Each message contains one, mostly the same: a
    checked signature is cached, and its validity is checked each time.
    """
    known = _KNOWN.get((roots, signed))
    if known is not None:
        return known
    text = signed.text.encode()
    if not any(is_signed(root, _CERTIFICATE + text, signed.signature) for root in roots):
        raise Refused(Refusal.UNCERTIFIED, "no root key of this fleet has certified the key that signed it")
    certificate = _decode(Certificate, text)
    if len(_KNOWN) >= MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[roots, signed] = certificate
    return certificate


def _claims(text: bytes) -> Claims:
    try:
        check_depth(text)
        claims = _CLAIMS.decode(text)
    except BadMessage as problem:
        raise Refused(Refusal(problem.reason), str(problem)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise Refused(Refusal.MALFORMED, f"the claims are malformed: {str(problem)[:200]}") from None
    if claims.v > VERSION:
        raise Refused(Refusal.NEWER, f"the claims are of version {claims.v}, and {VERSION} is known here")
    if claims.kind not in MESSAGES or not MESSAGES[claims.kind].signed:
        raise Refused(Refusal.WRONG_KIND, f"no message of the kind {claims.kind[:64]!r} is signed")
    return claims


def _check_claims(claims: Claims, trust: Trust, now: float) -> None:
    if claims.fleet != trust.fleet:
        raise Refused(Refusal.WRONG_FLEET, f"it is for fleet {claims.fleet!r}, and this is {trust.fleet!r}")
    _check_times("the message", claims.issued, claims.expires, trust, now)


def _check_times(what: str, issued: float, expires: float, trust: Trust, now: float) -> None:
    if now > expires + trust.skew:
        raise Refused(Refusal.EXPIRED, f"{what} expired {now - expires:.0f} s ago by this clock")
    if issued > now + trust.skew:
        raise Refused(
            Refusal.FROM_FUTURE,
            f"{what} is dated {issued - now:.0f} s ahead of this clock; compare the clocks of both machines",
        )


def _check_audience(audience: Audience, me: str, matches: Callable[[str], bool]) -> None:
    if audience.everyone or me in audience.ids:
        return
    if not audience.expression or not matches(audience.expression):
        raise Refused(Refusal.NOT_ADDRESSED, f"it is not addressed to {me!r}")


def _body(claims: Claims) -> Message:
    message = _decode(MESSAGES[claims.kind].shape, bytes(claims.body))
    if getattr(message, "jid", claims.jid) != claims.jid:
        raise Refused(Refusal.MALFORMED, "the claims name another job than the message")
    return message


def _decode(shape: type[M], data: bytes) -> M:
    try:
        return decode(shape, data)
    except BadMessage as problem:
        raise Refused(Refusal(problem.reason), str(problem)) from None
