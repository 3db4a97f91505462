"""Sends returns from the spool to the broker, again until a controller has stored them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from saltern.fleet.agent.spool import Spool
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import Bus
from saltern.fleet.bus.repeat import repeat
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.subjects import SUBJECTS

log = logging.getLogger(__name__)

TIMEOUT = 10.0  # seconds for the broker to store a message
RESEND = 120.0  # seconds after which a return that is not confirmed is sent again
ANEW = 900.0  # seconds after which the broker accepts such a return once more
RESEND_RECORDS = 900.0  # the same for records: those of a run in progress are confirmed by the next sync


def turn_of(age: float) -> str:
    """A suffix for the id of a return that has waited this long: the broker then stores it once more, in case
    a controller has read it and could not store it. Pure.
    """
    turn = int(max(0.0, age) // ANEW)
    return f".{turn}" if turn else ""


class Outbox:
    """Sends what waits, in the order in which jobs ended. The broker drops a part that is repeated
    too soon.
    """

    def __init__(
        self, bus: Bus, spool: Spool, id: str, now: Callable[[], float], backoff: Backoff | None = None
    ) -> None:
        self._bus = bus
        self._unsent = spool.unsent
        self._id = id
        self._mark = f"{encode_id(id)}.{spool.mark}"
        self._now = now
        self._backoff = backoff or Backoff()
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """There is something to send, or a connection again."""
        self._wanted.set()

    async def run(self) -> None:
        """Send for ever."""
        await repeat(
            self._send_all,
            self._wanted,
            self._backoff,
            failed=lambda problem: log.info("returns wait: %s", problem),
        )

    async def _send_all(self) -> None:
        for jid, ended in self._unsent.due_returns(self._now() - RESEND):
            subject = SUBJECTS["return"].of(id=self._id, jid=jid)
            turn = turn_of(self._now() - ended)
            for part in self._unsent.part_numbers(jid):
                if data := self._unsent.part(jid, part):  # otherwise it was confirmed meanwhile
                    id_ = f"{self._mark}.{jid}.{part}{turn}"
                    await self._bus.store(subject, data, id=id_, timeout=TIMEOUT)
            self._unsent.mark_sent(jid, self._now())
        for jid, first in self._unsent.due_batches(self._now() - RESEND_RECORDS):
            if data := self._unsent.batch(jid, first):
                subject = SUBJECTS["records"].of(id=self._id, jid=jid)
                await self._bus.store(subject, data, id=f"{self._mark}.{jid}.r{first}", timeout=TIMEOUT)
            self._unsent.mark_batch(jid, first, self._now())
