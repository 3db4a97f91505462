"""An agent's membership of its fleet, on disk: addresses, whom to trust, its credential. And how it joins."""

from __future__ import annotations

import os
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.bus.ports import Bus
from saltern.fleet.identity.enrolment import sign_claim
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.identity.keys import OWNER_ONLY, AgentKeys, check_private
from saltern.fleet.identity.mint import joiner_name
from saltern.fleet.identity.nkeys import Holder, public_text
from saltern.fleet.identity.token import JoinToken, joiner_key, proof, proof_key
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Trust, verify
from saltern.fleet.protocol.ids import encode_id, new_nonce
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import EnrolAnswer, EnrolClaim, EnrolRequest, RenewAnswer, RenewRequest
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write

FILE = "membership.json"
TIMEOUT = 10.0


class Membership(Struct, frozen=True, kw_only=True):
    """The fleet of a machine. Nothing in it is secret; a changed file could redirect the agent to another
    fleet.
    """

    v: int = 1
    id: str
    fleet: str
    servers: tuple[str, ...]
    ca: bytes = b""
    roots: tuple[bytes, ...]
    withdrawn: tuple[str, ...] = ()
    account: str
    issuer: str
    credential: str
    spare: str = ""
    starts: int = 0

    @property
    def trust(self) -> Trust:
        return Trust(fleet=self.fleet, roots=self.roots, withdrawn=frozenset(self.withdrawn))

    @property
    def name(self) -> str:
        """The id as encoded in subjects."""
        return encode_id(self.id)


def load_membership(folder: str) -> Membership:
    path = os.path.join(folder, FILE)
    check_private(path)
    data = read(path)
    if data is None:
        what, fix = f"this machine is in no fleet: {path} is missing", "join one: saltern agent join TOKEN"
        raise OperationError(Diagnostic(code="fleet-not-joined", what=what, fix=fix))
    try:
        return msgspec.json.decode(data, type=Membership)
    except msgspec.DecodeError as problem:
        what = f"{path} is damaged: {problem}"
        fix = "restore it from a backup, or join again; the keys are kept"
        raise OperationError(Diagnostic(code="fleet-membership-damaged", what=what, fix=fix)) from None


def save_membership(folder: str, membership: Membership) -> None:
    data = msgspec.json.format(msgspec.json.encode(membership), indent=1)
    write(os.path.join(folder, FILE), data + b"\n", OWNER_ONLY)


def count_start(folder: str) -> Membership:
    """Count one more start, on disk, and return the membership: the count distinguishes a restart from a copy
    of the machine.
    """
    membership = load_membership(folder)
    counted = replace(membership, starts=membership.starts + 1)
    save_membership(folder, counted)
    return counted


def client_tls(ca: bytes) -> ssl.SSLContext:
    """TLS 1.3 that trusts only this CA; without one, the CAs of the machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if ca:
        context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(ca))
    else:
        context.load_default_certs()  # they take some MB, which an agent of a fleet with a CA does not need
    return context


class KeyCredential:
    """A JWT and the key that proves it; the JWT may be replaced at any time."""

    def __init__(self, jwt: str, key: SigningKey) -> None:
        self._jwt = jwt
        self._key = key

    def jwt(self) -> str:
        return self._jwt

    def replace(self, jwt: str) -> None:
        self._jwt = jwt

    def sign(self, nonce: bytes) -> bytes:
        return self._key.sign(nonce)


def joiner_credential(token: JoinToken) -> tuple[str, KeyCredential]:
    """The name and the credential for asking to join."""
    return joiner_name(token.id), KeyCredential(token.credential, joiner_key(token.secret))


async def ask_to_join(
    bus: Bus, token: JoinToken, id: str, keys: AgentKeys, *, now: float, facts: dict[str, Any]
) -> EnrolAnswer:
    """Send one request over a bus with the credential of the token; return the answer if it comes from a
    controller of this fleet.
    """
    claim = EnrolClaim(
        nonce=new_nonce(),
        fleet=token.fleet,
        id=id,
        key=keys.signing.public,
        sealing_key=keys.sealing.public,
        token=token.id,
        at=now,
        facts=facts,
    )
    text = encode(claim)
    request = EnrolRequest(
        signed=text.decode(),
        signature=keys.signing.sign(sign_claim(text)),
        proof=proof(proof_key(token.secret), text),
    )
    subject = SUBJECTS["enrol"].of(key=public_text(keys.signing.public, Holder.USER))
    answer = await bus.request(subject, encode(request), timeout=TIMEOUT)
    return verify(answer.data, token.trust, me=id, now=now, nonce=claim.nonce).of(EnrolAnswer)


def become_member(token: JoinToken, id: str, keys: AgentKeys, credential: str, spare: str = "") -> Membership:
    """The membership to keep after an accepted request; ``BadJwt`` if the credential is not the requested
    one.
    """
    member = Membership(
        id=id,
        fleet=token.fleet,
        servers=token.servers,
        ca=token.ca,
        roots=token.roots,
        account=token.account,
        issuer=token.issuer,
        credential=credential,
        spare=spare,
    )
    return check_credential(member, keys)


def check_credential(member: Membership, keys: AgentKeys) -> Membership:
    """The membership. Raises if its credential is for another key or id, or was not made by the
    fleet's key.
    """
    claims = decode_user(member.credential)
    if claims.sub != public_text(keys.signing.public, Holder.USER):
        raise BadJwt("the credential is for another key")
    if claims.iss != member.issuer or claims.nats.get("issuer_account") != member.account:
        raise BadJwt("the credential was not made by the issuer that the token names")
    if claims.name != member.name:
        raise BadJwt(f"the credential is for {claims.name!r}, and this machine is {member.name!r}")
    return member


def with_credential(member: Membership, keys: AgentKeys, credential: str, spare: str) -> Membership:
    """The membership with another credential from a signed answer, so its issuer may be new."""
    issuer = decode_user(credential).iss
    other = replace(member, credential=credential, spare=spare or member.spare, issuer=issuer)
    return check_credential(other, keys)


async def regain_credential(bus: Bus, member: Membership, keys: AgentKeys, *, now: float) -> Membership:
    """Ask for a credential over a bus with the spare one: the key identifies the machine. ``BadJwt`` has the
    reason if the controller gives none.
    """
    claim = EnrolClaim(
        nonce=new_nonce(),
        fleet=member.fleet,
        id=member.id,
        key=keys.signing.public,
        sealing_key=keys.sealing.public,
        at=now,
    )
    text = encode(claim)
    request = EnrolRequest(signed=text.decode(), signature=keys.signing.sign(sign_claim(text)))
    subject = SUBJECTS["enrol"].of(key=public_text(keys.signing.public, Holder.USER))
    reply = await bus.request(subject, encode(request), timeout=TIMEOUT)
    answer = verify(reply.data, member.trust, me=member.id, now=now, nonce=claim.nonce).of(EnrolAnswer)
    if answer.state != "accepted":
        raise BadJwt(f"the controller gives no new credential: {answer.why}")
    return with_credential(member, keys, answer.credential, answer.spare)


async def renew_credential(
    bus: Bus,
    member: Membership,
    keys: AgentKeys,
    credential: KeyCredential,
    *,
    now: float,
    save: Callable[[Membership], Awaitable[None] | None],
) -> Membership:
    """Ask for a new credential, store it, and connect with it before the old connection is closed."""
    request = RenewRequest(nonce=new_nonce(), expires=decode_user(credential.jwt()).exp)
    subject = SUBJECTS["renew"].of(id=member.id)
    reply = await bus.request(subject, encode(request), timeout=TIMEOUT)
    answer = verify(reply.data, member.trust, me=member.id, now=now, nonce=request.nonce).of(RenewAnswer)
    if not answer.credential:
        raise BadJwt(answer.problem or "the controller gave no credential")
    renewed = with_credential(member, keys, answer.credential, answer.spare)
    if (waiting := save(renewed)) is not None:
        await waiting
    credential.replace(renewed.credential)
    await bus.renew()
    return renewed
