"""Services of controllers for agents: the common steps before and after each service's own work.

The sender's id is in the subject, which the broker guarantees. An answer goes only into the sender's inbox,
is signed, and carries the nonce of the request. Senders take turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from saltern.fleet.bus.ports import Bus, Subscription
from saltern.fleet.bus.ports import Message as Arrived
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.messages import MESSAGES, Audience
from saltern.fleet.protocol.subjects import SERVICES, SUBJECTS, Subject, is_own_reply

ANSWER_LIFE = 300.0
PARALLEL = 16

Answerer = Callable[[str, Any], Awaitable[Message]]
Refuser = Callable[[str, str, str], None]  # the sender, one word for the reason, the reason as text


class Services:
    """The services of one controller. ``refused`` is called with the sender and the reason; refusals are
    counted by reason.
    """

    def __init__(
        self,
        bus: Bus,
        issuer: Issuer,
        *,
        now: Callable[[], float],
        refused: Refuser = lambda _sender, _reason, _why: None,
    ) -> None:
        self.refusals: Counter[str] = Counter()
        self._bus = bus
        self._issuer = issuer
        self._now = now
        self._refused = refused

    async def serve(self, name: str, answerer: Answerer, *, parallel: int = PARALLEL) -> Subscription:
        """Answer the requests of a row of ``SUBJECTS``: the answerer gets the id of the system and the
        request.
        """
        row = SUBJECTS[name]

        async def on(message: Arrived) -> None:
            await self._on(row, message, answerer)

        return await self._bus.subscribe(row.wild(), on, queue=SERVICES, parallel=parallel, sender=1)

    async def _on(self, row: Subject, message: Arrived, answerer: Answerer) -> None:
        sender = message.subject.split(".")[1]
        fields = row.parse(message.subject)
        if fields is None:
            return self._refuse(sender, "bad-subject", "the subject is not one of the protocol")
        if not is_own_reply(message.reply, sender):
            return self._refuse(
                fields["id"], "foreign-reply", "it asks for its answer at the address of another system"
            )
        try:
            request: Any = decode(MESSAGES[row.message].shape, message.data)
        except BadMessage as problem:
            return self._refuse(fields["id"], problem.reason, str(problem))
        answer = await answerer(fields["id"], request)
        await self._bus.publish(message.reply, self._issue(answer, fields["id"], request.nonce))
        return None

    def _issue(self, answer: Message, system: str, nonce: str) -> bytes:
        audience = Audience(ids=[system])
        return self._issuer.issue(answer, audience, now=self._now(), life=ANSWER_LIFE, nonce=nonce)

    def _refuse(self, sender: str, reason: str, why: str) -> None:
        self.refusals[reason] += 1
        self._refused(sender, reason, why)
