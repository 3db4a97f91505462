"""Who is admitted: a pure decision from a request, what is known about the id, the token, and the policy."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from saltern.fleet.identity.token import TokenRecord, is_proven
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.ids import BadId, check_id
from saltern.fleet.protocol.keys import fingerprint, is_signed
from saltern.fleet.protocol.messages import EnrolClaim, EnrolRequest
from saltern.fleet.protocol.seal import SealedFor, seal

FRESH = 600.0  # seconds that a request may be older than our clock, or ahead of it
_CLAIM = b"saltern enrol 1\n"


class Standing(Enum):
    """The status of a key."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVOKED = "revoked"


class System(Struct, frozen=True, kw_only=True):
    """A key that asked to join, as the controller stores it: one row for each id and fingerprint."""

    id: str
    key: bytes
    sealing_key: bytes
    standing: Standing
    token: str = ""
    site: str = ""

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.key, self.sealing_key)


class Decision(Struct, frozen=True, kw_only=True):
    """The decision on a request. ``consume`` names a token, one use of which is consumed with ``system``."""

    standing: Standing
    system: System | None = None
    consume: str = ""
    why: str = ""
    alarm: bool = False


class BadRequest(Exception):
    """The request proves nothing; it is not stored."""


def sign_claim(text: bytes) -> bytes:
    """A claim signed with the key of an agent."""
    return _CLAIM + text


def read_claim(request: EnrolRequest, subject_key: bytes, *, fleet: str, now: float) -> EnrolClaim:
    """The claim, if the key that it names has signed it, for this fleet, now."""
    text = request.signed.encode()
    try:
        claim = decode(EnrolClaim, text)
        check_id(claim.id)
        seal(b"", claim.sealing_key, SealedFor(fleet=fleet, system=claim.id, purpose="check"))
    except (BadMessage, BadId, ValueError) as problem:
        raise BadRequest(str(problem)) from None
    if claim.key != subject_key or not is_signed(claim.key, sign_claim(text), request.signature):
        raise BadRequest("the request is not signed by the key that it names")
    if claim.fleet != fleet:
        raise BadRequest(f"the request is for the fleet {claim.fleet!r}")
    if abs(now - claim.at) > FRESH:
        raise BadRequest(f"the clocks differ by {abs(now - claim.at):.0f} s; set the clock of the machine")
    return claim


def decide(
    request: EnrolRequest,
    claim: EnrolClaim,
    *,
    same_key: System | None,
    holder: System | None,
    token: TokenRecord | None,
    now: float,
    policy: Callable[[EnrolClaim], bool] = lambda _claim: False,
) -> Decision:
    """Admit, wait for an operator, or refuse.

    ``same_key`` is what is known about this id with these keys, ``holder`` the accepted system of this id.
    ``policy`` may accept a machine without a valid token; by default it accepts none.
    """
    if holder is not None and (holder.key, holder.sealing_key) != (claim.key, claim.sealing_key):
        why = f"the id {claim.id!r} belongs to another key; revoke that one first, or choose another id"
        return Decision(standing=Standing.REJECTED, why=why, alarm=True)
    if same_key is not None and same_key.standing is not Standing.PENDING:
        return _decide_known(same_key)
    vouched, why = _check_token(request, token, claim.token, now)
    if vouched or policy(claim):
        site = token.site if vouched and token else ""
        return _make_decision(claim, Standing.ACCEPTED, consume=claim.token if vouched else "", site=site)
    return _make_decision(claim, Standing.PENDING, why=why)


def _decide_known(system: System) -> Decision:
    said = {Standing.ACCEPTED: "", Standing.REJECTED: "an operator rejected this key"}
    why = said.get(system.standing, "this key was revoked; make new keys and join again")
    return Decision(standing=system.standing, system=system, why=why)


def _check_token(request: EnrolRequest, token: TokenRecord | None, name: str, now: float) -> tuple[bool, str]:
    """Empty if the token admits the machine; otherwise the answer to the operator and the machine."""
    if not name:
        return False, "no token was used; an operator must accept the key"
    if token is None or not is_proven(token, request.signed.encode(), request.proof):
        return False, "the token is not known here; an operator must accept the key"
    if token.expires < now:
        return False, "the token has expired; an operator must accept the key"
    if token.uses < 1:
        return False, "the token was used before; an operator must accept the key"
    return True, ""


def _make_decision(
    claim: EnrolClaim, standing: Standing, *, consume: str = "", why: str = "", site: str = ""
) -> Decision:
    system = System(
        id=claim.id,
        key=claim.key,
        sealing_key=claim.sealing_key,
        standing=standing,
        token=claim.token,
        site=site,
    )
    return Decision(standing=standing, system=system, consume=consume, why=why)
