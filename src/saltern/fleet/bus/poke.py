"""Which systems are connected now: a poke to each, answered by the agent, or by the broker if no agent
listens.

The answer goes to a subject of the agent's own (``up.<id>.ans…``), so that agents need no right to publish
into inboxes of others. Two answers to one poke mean two agents with one identity.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress

from msgspec import Struct, field

from saltern.fleet.bus.ports import Bus, Message, Subscription
from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Alive
from saltern.fleet.protocol.subjects import SUBJECTS

ANSWER = SUBJECTS["answer"]
CONTROL = SUBJECTS["control"]
NOT_THERE = 503
LONGEST = 30.0  # seconds of a round, however many answers still come
MOST_ANSWERS = 8  # answers of one identity in one round: two already mean a clone


class Presence(Struct):
    """The result: ``there`` with all answers of each system, ``away`` as reported by the broker, the rest
    silent.
    """

    asked: frozenset[str]
    there: dict[str, list[Alive]] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)

    @property
    def silent(self) -> set[str]:
        return set(self.asked - self.there.keys() - self.away)

    @property
    def known(self) -> int:
        """How many have answered, or are away."""
        return len(self.there) + len(self.away)

    @property
    def is_complete(self) -> bool:
        """True if no system is silent. Called after each answer, so it compares the counts first."""
        return self.known >= len(self.asked) and not self.silent


class Poker:
    """Pokes systems over one subscription, which ``start`` makes."""

    def __init__(self, bus: Bus, controller: str) -> None:
        self._bus = bus
        self._controller = controller
        self._rounds: dict[str, tuple[Presence, asyncio.Event]] = {}
        self._sub: Subscription | None = None

    async def start(self) -> None:
        self._sub = await self._bus.subscribe(ANSWER.wild(controller=self._controller), self._on_answer)

    async def stop(self) -> None:
        if self._sub is not None:
            await self._sub.stop()

    async def poke(self, ids: Collection[str], *, timeout: float, linger: float = 0.0) -> Presence:
        """Poke all; return when each has answered or is away, or when none has answered for ``timeout``
        seconds: many take longer to answer than few. ``linger`` waits for second answers.
        """
        nonce = new_nonce()
        presence, complete = Presence(frozenset(ids)), asyncio.Event()
        self._rounds[nonce] = presence, complete
        try:
            for name in presence.asked:
                reply = ANSWER.of(id=name, controller=self._controller, nonce=nonce)
                await self._bus.publish(CONTROL.of(id=name), reply=reply)
            await _until_quiet(presence, complete, timeout)
            await asyncio.sleep(linger)
        finally:
            del self._rounds[nonce]
        return presence

    async def _on_answer(self, message: Message) -> None:
        fields = ANSWER.parse(message.subject)
        if fields is None or fields["nonce"] not in self._rounds:
            return  # late: the round is over
        presence, complete = self._rounds[fields["nonce"]]
        if fields["id"] in presence.asked:
            self._count(presence, fields["id"], message)
        if presence.is_complete:
            complete.set()

    def _count(self, presence: Presence, name: str, message: Message) -> None:
        if message.status == NOT_THERE:
            presence.away.add(name)
            return
        answers = presence.there.setdefault(name, [])  # it is connected, whatever it answers
        if len(answers) < MOST_ANSWERS:
            with suppress(BadMessage):
                answers.append(decode(Alive, message.data))


async def _until_quiet(presence: Presence, complete: asyncio.Event, timeout: float) -> None:
    """Return when all have answered, or no more answers come."""
    known = -1
    end = asyncio.get_running_loop().time() + LONGEST
    while presence.asked and known < presence.known and asyncio.get_running_loop().time() < end:
        known = presence.known
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await complete.wait()
                return
