"""Sends messages to agents: jobs, orders, pokes. What cannot be sent now is delivered by the next sync."""

from __future__ import annotations

from collections.abc import Callable, Collection

from saltern.fleet.bus.poke import Poker, Presence
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.protocol.messages import Audience, Control, Job
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store.deliveries import mark_sent, mark_unsent

POKE = 1.0  # seconds to wait for systems that are connected and do not answer
CONTROL_LIFE = 300.0
JOB, JOB_ALL, CONTROL = SUBJECTS["job"], SUBJECTS["job-all"], SUBJECTS["control"]
POKED = 500  # with more systems, only the broker's list of connections is used


class Dispatcher:
    """Signs and sends."""

    def __init__(
        self,
        bus: Bus,
        issuer: Issuer,
        poker: Poker,
        board: PresenceBoard,
        calls: Calls,
        *,
        now: Callable[[], float],
        ssh: SshBoard | None = None,
    ) -> None:
        self._ssh = ssh or SshBoard()
        self._bus = bus
        self._issuer = issuer
        self._poker = poker
        self._board = board
        self._calls = calls
        self._now = now

    def sign(self, job: Job, audience: Audience, *, now: float, life: float) -> bytes:
        return self._issuer.issue(job, audience, now=now, life=life)

    def online_agents(self, systems: list[str]) -> frozenset[str]:
        """The systems with an agent that is connected, as reported by the broker."""
        return frozenset(one for one in self._ssh.agents(systems) if self._board.is_online(one))

    async def send(
        self,
        jid: str,
        systems: list[str],
        envelope: bytes,
        how: str,
        *,
        marked: Collection[str] = (),
    ) -> dict[str, float | None]:
        """Send a stored job; return the systems that are away, and since when. They get it from a sync.
        Systems reached over SSH get it from the controller that drives them.

        ``marked``: systems for which it was stored as sent, so that after a crash no agent can have a job
        that counts as waiting. Only what turns out differently is written.
        """
        agents = self._agents(systems)
        try:
            await self._publish(agents, envelope, how)
            away = await self.away(systems)
        except BusError:
            away = {one: self._board.last_seen(one) for one in agents} | self._ssh.away(systems)
        for mark, some in (
            (mark_sent, [one for one in agents if one not in away and one not in marked]),
            (mark_unsent, [one for one in agents if one in away and one in marked]),
        ):
            if some:
                await self._calls.write(mark, jid, some, self._now())
        return away

    async def push(self, jid: str, systems: list[str], envelope: bytes) -> None:
        """Send a job to each system without waiting for answers; a system that is away gets it from
        a sync.
        """
        agents = self._agents(systems)
        try:
            await self._publish(agents, envelope, "each")
        except BusError:
            return
        there = [system for system in agents if self._board.is_online(system)]
        await self._calls.write(mark_sent, jid, there, self._now())

    def _agents(self, systems: list[str]) -> list[str]:
        """The systems with an agent; the work for the others is begun."""
        agents = self._ssh.agents(systems)
        if len(agents) < len(systems):
            self._ssh.wake()
        return agents

    async def _publish(self, systems: list[str], envelope: bytes, how: str) -> None:
        if how == "all":
            await self._bus.publish(JOB_ALL.of(), envelope)
        else:
            await self._bus.publish_each((JOB.of(id=system) for system in systems), envelope)
        await self._bus.flush()

    async def poke(self, systems: Collection[str]) -> Presence:
        try:
            found = await self._poker.poke(self._ssh.agents(systems), timeout=POKE)
        except BusError:
            return Presence(frozenset(systems))
        if own := self._ssh.own(systems):
            return Presence(
                asked=frozenset(systems),
                there=found.there | self._ssh.there(own),
                away=found.away | self._ssh.away(own).keys(),
            )
        return found

    async def away(self, systems: Collection[str]) -> dict[str, float | None]:
        """The systems that do not answer now, and when each was last seen."""
        if len(systems) > POKED and self._board.is_known:
            gone: Collection[str] = self.presumed_away(systems)
        else:
            found = await self.poke([one for one in systems if not self._board.has_just_answered(one)])
            gone = {*found.away, *found.silent}
            self._board.answered(found.there)
        seen = self._ssh.away(systems)
        return {system: seen.get(system, self._board.last_seen(system)) for system in sorted(gone)}

    def presumed_away(self, systems: Collection[str]) -> list[str]:
        """The systems that are away as reported by the broker, or could not be reached last over SSH."""
        return [one for one in systems if not self._board.is_online(one)]

    async def cancel(self, jid: str, systems: Collection[str], *, hard: bool, why: str = "") -> set[str]:
        """Order agents to stop a job, and stop it on SSH hosts; return the systems that are connected."""
        order = Control(action="kill" if hard else "cancel", jid=jid, why=why)
        stopped = self._ssh.cancel(jid, self._ssh.own(systems), hard)
        return await self.order(order, systems) | stopped

    async def order(self, order: Control, systems: Collection[str]) -> set[str]:
        """Send an order to each agent; return the systems that answer a poke."""
        agents = self._ssh.agents(systems)
        try:
            for system in agents:
                await self._bus.publish(CONTROL.of(id=system), self._sign(order, system))
            return {*(await self.poke(agents)).there}
        except BusError:
            return set()

    def _sign(self, order: Control, system: str) -> bytes:
        audience = Audience(ids=[system])
        return self._issuer.issue(order, audience, now=self._now(), life=CONTROL_LIFE)
