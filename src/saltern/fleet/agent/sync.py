"""Sync: one request to the controllers, at the start, at intervals, and on demand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from random import random
from typing import Protocol

from msgspec import Struct

from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import Bus, BusError, Disconnected
from saltern.fleet.bus.repeat import repeat
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Refused, Trust
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import SyncAnswer, SyncRequest
from saltern.fleet.protocol.subjects import SUBJECTS

log = logging.getLogger(__name__)

TIMEOUT = 15.0
SPREAD = 0.2  # of the time between two syncs
REFUSED = 60.0  # seconds before an agent that was refused asks again


class Host(Protocol):
    """What a sync needs from the agent."""

    def sync_request(self, nonce: str) -> SyncRequest: ...

    async def on_sync(self, answer: SyncAnswer) -> None: ...


class SyncState(Struct):
    """The result of the last sync, for `status`."""

    at: float = 0.0
    problem: str = "not yet"
    refused: str = ""


class Syncer:
    """Syncs, and passes the answer on; until there is one, the agent is not online."""

    def __init__(
        self,
        bus: Bus,
        host: Host,
        clock: FleetClock,
        *,
        id: str,
        trust: Callable[[], Trust],
        backoff: Backoff | None = None,
    ) -> None:
        self.state = SyncState()
        self._bus = bus
        self._host = host
        self._clock = clock
        self._id = id
        self._trust = trust
        self._backoff = backoff or Backoff()
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """Ask now."""
        self._wanted.set()

    async def run(self) -> None:
        """Ask for ever."""
        await repeat(
            self.ask, self._wanted, self._backoff, failed=self._note_problem, errors=(BusError, Refused)
        )

    async def ask(self) -> float:
        """Sync once; return the seconds until the next."""
        while True:
            request = self._host.sync_request(new_nonce())
            subject = SUBJECTS["sync"].of(id=self._id)
            reply = await self._bus.request(subject, encode(request), timeout=TIMEOUT)
            found = self._clock.check_answer(reply.data, self._trust(), me=self._id, nonce=request.nonce)
            answer = found.of(SyncAnswer)
            self._note(answer)
            if answer.retry_after:
                return answer.retry_after * (1 + random())
            await self._host.on_sync(answer)
            if not answer.more:
                return _spread(REFUSED if answer.refused else answer.next_sync)

    def _note_problem(self, problem: Exception) -> None:
        """Keep the problem. The log already has the reason of a lost connection."""
        why = str(problem) or type(problem).__name__
        if why != self.state.problem and not isinstance(problem, Disconnected):
            log.info("no sync: %s", why)
        self.state.problem = why

    def _note(self, answer: SyncAnswer) -> None:
        if answer.refused and answer.refused != self.state.refused:
            log.error("the controller refuses this agent: %s", answer.refused)
        self.state.at = self._clock.now()
        self.state.problem, self.state.refused = "", answer.refused


def _spread(seconds: float) -> float:
    """About that many seconds, at random, so that many agents do not sync at the same moment."""
    return max(1.0, seconds) * (1 + SPREAD * (2 * random() - 1))
