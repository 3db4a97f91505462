"""Messages from controllers to one agent besides jobs: pokes, which are answered, and signed orders."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Protocol

from saltern.fleet.agent.facts import FactsSender
from saltern.fleet.agent.inbox import Inbox
from saltern.fleet.agent.jobs import Jobs
from saltern.fleet.agent.scheduler import Scheduler
from saltern.fleet.agent.sync import Syncer
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.bus.ports import Message as Arrived
from saltern.fleet.identity.membership import Membership
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.messages import Alive, Control

log = logging.getLogger(__name__)


class Parts(Protocol):
    """The parts of an agent that orders are about."""

    bus: Bus
    member: Membership
    inbox: Inbox
    jobs: Jobs
    syncer: Syncer
    facts: FactsSender
    scheduler: Scheduler
    stop: asyncio.Event

    def alive(self) -> Alive: ...


class Orders:
    """Obeys the orders of the fleet's controllers, and answers their pokes."""

    def __init__(self, agent: Parts) -> None:
        self._agent = agent

    async def arrive(self, message: Arrived) -> None:
        """Handle a message. A poke has no data, and is answered; anything else must be signed."""
        if not message.data:
            return await self._answer_poke(message.reply)
        found = self._agent.inbox.open(message.data)
        if found is not None:
            with suppress(Refused):
                await self._obey(found.of(Control))
        return None

    async def _answer_poke(self, reply: str) -> None:
        if reply.startswith(f"up.{self._agent.member.name}.ans."):
            with suppress(BusError):
                await self._agent.bus.publish(reply, encode(self._agent.alive()))

    async def _obey(self, order: Control) -> None:
        log.info("order: %s %s", order.action, order.jid or "")
        if order.action in ("cancel", "kill") and order.jid:
            await self._agent.jobs.cancel(order.jid, hard=order.action == "kill", why=order.why)
        elif order.action == "sync":
            self._agent.syncer.wake()
        elif order.action == "drain":
            self._agent.inbox.draining = order.why or "this agent takes no jobs now"
        elif order.action == "reload":
            self._agent.inbox.draining = ""
            self._agent.facts.look_again()
            self._agent.scheduler.look_again()
        elif order.action == "leave":
            log.warning("the controller asks this machine to leave: %s", order.why)
            self._agent.stop.set()
