"""The controller's side of enrolment and renewal: requests in, signed answers out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.identity.enrolment import (
    BadRequest,
    Decision,
    Standing,
    System,
    decide,
    read_claim,
)
from saltern.fleet.identity.mint import LIFE, Mint, joiner_name
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

ANSWER_LIFE = 300.0
RETRY = 10.0  # seconds after which one who waits for an operator asks again
ENROL = SUBJECTS["enrol"]
RENEW = SUBJECTS["renew"]
_STATES = {Standing.ACCEPTED: "accepted", Standing.PENDING: "pending"}


class Registry(Protocol):
    """What is known of systems and tokens. The controller's database has it; each call is one transaction."""

    async def same_key(self, id: str, key: bytes, sealing_key: bytes) -> System | None: ...

    async def holder(self, id: str) -> System | None:
        """The accepted system of this id."""
        ...

    async def token(self, id: str) -> TokenRecord | None: ...

    async def record(self, decision: Decision) -> bool:
        """Store the system and take one use of the token; False, and nothing is stored, if there is none
        left, or if the id has got another holder meanwhile.
        """
        ...


class Alarm(Struct, frozen=True, kw_only=True):
    """A request that an operator should know of."""

    id: str
    why: str


class EnrolDesk:
    """Answers requests to join and to renew. ``alarm`` is called for what smells of an attack."""

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
        self._registry = registry
        self._mint = mint
        self._issuer = issuer
        self._now = now
        self._policy = policy
        self._alarm = alarm
        self._life = life

    async def start(self) -> None:
        options: dict[str, Any] = {"queue": SERVICES, "parallel": 16, "sender": 1}
        await self._bus.subscribe(ENROL.wild(), self.on_enrol, **options)
        await self._bus.subscribe(RENEW.wild(), self.on_renew, **options)

    async def on_enrol(self, message: Message) -> None:
        """A request that proves nothing gets no answer: only who has a token can even ask."""
        try:
            fields = ENROL.parse(message.subject) or {}
            key = read_public(fields.get("key", ""), Holder.USER)
            request = decode(EnrolRequest, message.data)
            claim = read_claim(request, key, fleet=self._issuer.fleet, now=self._now())
        except (BadKey, BadMessage, BadRequest) as problem:
            self._alarm(Alarm(id="", why=f"a request to join is invalid: {problem}"))
            return
        if not is_own_reply(message.reply, joiner_name(claim.token)):
            self._alarm(Alarm(id=claim.id, why="a request to join wants its answer at another one's address"))
            return
        decision = await self._settled(request, claim)
        if decision.alarm:
            self._alarm(Alarm(id=claim.id, why=decision.why))
        await self._bus.publish(message.reply, self._answer(decision, claim))

    async def _settled(self, request: EnrolRequest, claim: EnrolClaim) -> Decision:
        """Decide and record. If what the decision rests on has changed meanwhile, decide anew."""
        while True:
            decision = decide(
                request,
                claim,
                same_key=await self._registry.same_key(claim.id, claim.key, claim.sealing_key),
                holder=await self._registry.holder(claim.id),
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
            answer = replace(answer, credential=self._credential(decision.system))
        return self._issued(answer, claim.id, claim.nonce)

    def _credential(self, system: System) -> str:
        return self._mint.agent(system.id, system.key, now=self._now(), life=self._life, site=system.site)

    def _issued(self, answer: EnrolAnswer | RenewAnswer, id: str, nonce: str) -> bytes:
        return self._issuer.issue(answer, Audience(ids=[id]), now=self._now(), life=ANSWER_LIFE, nonce=nonce)

    async def on_renew(self, message: Message) -> None:
        """The broker vouches for who asks: the id in the subject is that of the credential."""
        fields = RENEW.parse(message.subject)
        name = message.subject.split(".")[1]
        if fields is None or not is_own_reply(message.reply, name):
            self._alarm(Alarm(id=name, why="a request to renew wants its answer at another one's address"))
            return
        try:
            request = decode(RenewRequest, message.data)
        except BadMessage as problem:
            self._alarm(Alarm(id=fields["id"], why=f"a request to renew is invalid: {problem}"))
            return
        system = await self._registry.holder(fields["id"])
        answer = (
            RenewAnswer(credential=self._credential(system))
            if system is not None
            else RenewAnswer(problem="this id is not accepted any more; join again")
        )
        await self._bus.publish(message.reply, self._issued(answer, fields["id"], request.nonce))
