"""The controller's side of enrolment and renewal: requests in, signed answers out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.bus.service import ANSWER_LIFE, PARALLEL, Services
from saltern.fleet.identity.enrolment import (
    BadRequest,
    Decision,
    Standing,
    System,
    decide,
    read_claim,
)
from saltern.fleet.identity.mint import LIFE, Mint, joiner_name, spare_name
from saltern.fleet.identity.nkeys import BadKey, Holder, read_public
from saltern.fleet.identity.token import TokenRecord
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.protocol.messages import (
    Audience,
    EnrolAnswer,
    EnrolClaim,
    EnrolRequest,
    RenewAnswer,
    RenewRequest,
)
from saltern.fleet.protocol.subjects import SERVICES, SUBJECTS, is_own_reply

RETRY = 10.0  # seconds after which a machine that waits for an operator asks again
ENROL = SUBJECTS["enrol"]
_STATES = {Standing.ACCEPTED: "accepted", Standing.PENDING: "pending"}


class Registry(Protocol):
    """Systems and tokens in the controller's database; each call is one transaction."""

    async def same_key(self, id: str, key: bytes, sealing_key: bytes) -> System | None: ...

    async def holder(self, id: str, token: str = "") -> System | None:
        """The accepted system of this id."""
        ...

    async def token(self, id: str) -> TokenRecord | None: ...

    async def record(self, decision: Decision) -> bool:
        """Store the system and consume one use of the token; False, and nothing is stored, if there is none
        left, or if the id has another holder meanwhile.
        """
        ...


class Alarm(Struct, frozen=True, kw_only=True):
    """A request that an operator should know of."""

    id: str
    why: str


class EnrolDesk:
    """Answers requests to join and to renew. ``alarm`` is called for what looks like an attack."""

    def __init__(
        self,
        bus: Bus,
        registry: Registry,
        mint: Mint,
        issuer: Issuer,
        *,
        now: Callable[[], float],
        policy: Callable[[EnrolClaim], bool] = lambda _claim: False,
        alarm: Callable[[Alarm], None] = lambda _alarm: None,
        life: float = LIFE,
    ) -> None:
        self._bus = bus
        self._services = Services(
            bus, issuer, now=now, refused=lambda id, _reason, why: alarm(Alarm(id=id, why=why))
        )
        self._registry = registry
        self._mint = mint
        self._issuer = issuer
        self._now = now
        self._policy = policy
        self._alarm = alarm
        self._life = life

    async def start(self) -> None:
        await self._bus.subscribe(ENROL.wild(), self.on_enrol, queue=SERVICES, parallel=PARALLEL, sender=1)
        await self._services.serve("renew", self.on_renew)

    async def on_enrol(self, message: Message) -> None:
        """Answer a request to join. One that proves nothing gets no answer: only the holder of a token can
        ask.
        """
        try:
            fields = ENROL.parse(message.subject) or {}
            key = read_public(fields.get("key", ""), Holder.USER)
            request = decode(EnrolRequest, message.data)
            claim = read_claim(request, key, fleet=self._issuer.fleet, now=self._now())
        except (BadKey, BadMessage, BadRequest) as problem:
            self._alarm(Alarm(id="", why=f"a request to join is invalid: {problem}"))
            return
        name = joiner_name(claim.token) if claim.token else spare_name(claim.key)
        if not is_own_reply(message.reply, name):
            self._alarm(
                Alarm(
                    id=claim.id, why="a request to join asks for its answer at the address of another system"
                )
            )
            return
        decision = await self._settle(request, claim)
        if decision.alarm:
            self._alarm(Alarm(id=claim.id, why=decision.why))
        await self._bus.publish(message.reply, self._answer(decision, claim))

    async def _settle(self, request: EnrolRequest, claim: EnrolClaim) -> Decision:
        """Decide and record. If what the decision depends on has changed meanwhile, decide again."""
        while True:
            decision = decide(
                request,
                claim,
                same_key=await self._registry.same_key(claim.id, claim.key, claim.sealing_key),
                holder=await self._registry.holder(claim.id, claim.token),
                token=await self._registry.token(claim.token) if claim.token else None,
                now=self._now(),
                policy=self._policy,
            )
            if decision.system is None or await self._registry.record(decision):
                return decision

    def _answer(self, decision: Decision, claim: EnrolClaim) -> bytes:
        state = _STATES.get(decision.standing, "rejected")
        answer = EnrolAnswer(
            state=state,  # type: ignore[arg-type]
            why=decision.why,
            fingerprint=decision.system.fingerprint if decision.system else "",
            retry_after=RETRY if state == "pending" else 0,
        )
        if state == "accepted" and decision.system is not None:
            spare = self._mint.spare(decision.system.key, now=self._now())
            answer = replace(answer, credential=self._credential(decision.system), spare=spare)
        audience = Audience(ids=[claim.id])
        return self._issuer.issue(answer, audience, now=self._now(), life=ANSWER_LIFE, nonce=claim.nonce)

    def _credential(self, system: System) -> str:
        return self._mint.agent(system.id, system.key, now=self._now(), life=self._life, site=system.site)

    async def on_renew(self, id: str, _request: RenewRequest) -> RenewAnswer:
        """Answer a request to renew. The broker guarantees the agent's id: the subject has that of its
        credential.
        """
        system = await self._registry.holder(id)
        if system is None or not system.key:
            return RenewAnswer(problem="this id is not accepted any more; join again")
        spare = self._mint.spare(system.key, now=self._now())
        return RenewAnswer(credential=self._credential(system), spare=spare)
