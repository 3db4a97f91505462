"""Events of this machine: stored on disk, sent at a limited rate, and kept until a controller has them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from saltern.fleet.agent.event_spool import EventSpool, Waiting
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.ports import Bus, TooLarge
from saltern.fleet.bus.repeat import repeat
from saltern.fleet.protocol.codec import BadMessage, decode, encode
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.messages import Event
from saltern.fleet.protocol.pace import Pace
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.protocol.tags import EVENT_BURST, EVENT_RATE, PACE, subject_part, tag_problem

log = logging.getLogger(__name__)

TIMEOUT = 10.0  # seconds for the broker to store a message
RESEND = 300.0  # seconds after which an event that is not confirmed is sent again
TOGETHER = 50  # events in transit at once
MOST_UID = 10**15  # the longest number of an event
ASK_AFTER = 1000  # events after which the controllers are asked which of them are stored


class EventBox:
    """Takes events of workers and beacons. ``ask`` is called when many wait for confirmation."""

    def __init__(
        self,
        bus: Bus,
        spool: EventSpool,
        id: str,
        now: Callable[[], float],
        *,
        ask: Callable[[], None] = lambda: None,
        backoff: Backoff | None = None,
    ) -> None:
        self._bus = bus
        self._spool = spool
        self._id = id
        self._name = encode_id(id)
        self._now = now
        self._ask = ask
        self._backoff = backoff or Backoff()
        self._pace = Pace(EVENT_RATE * PACE, EVENT_BURST * PACE)
        self._unasked = 0
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """There is something to send, or a connection again."""
        self._wanted.set()

    def add(self, tag: str, data: dict[str, Any], **more: Any) -> str:
        """Store an event; return why it cannot be sent, or empty. ``more``: other fields of the message."""
        if problem := tag_problem(tag, self._id):
            return problem
        try:
            event = Event(tag=tag, data=data, at=max(0.0, self._now()), uid=self._spool.uid(MOST_UID), **more)
            message = encode(event)
            decode(Event, message)
        except BadMessage as bad:
            return f"the event {tag!r} cannot be sent: {bad}"
        try:
            if not self._spool.add(message, self._now()):
                return "too many events on this machine wait for a controller: this one was dropped"
        except SpoolFailed as failed:
            return str(failed)
        self.wake()
        return ""

    async def run(self) -> None:
        """Send for ever."""
        await repeat(
            self._send_due,
            self._wanted,
            self._backoff,
            failed=lambda problem: log.info("events wait: %s", problem),
        )

    async def _send_due(self) -> float:
        """Send what is due, as fast as is allowed; seconds until there may be more."""
        if not await self._send_some():
            return RESEND
        await asyncio.sleep(self._pace.wait(TOGETHER))
        return 0.0

    async def _send_some(self) -> bool:
        """Send the events that are due and allowed now; True if there may be more."""
        if not (allowed := self._pace.take(TOGETHER)):
            return True
        some = self._spool.due(self._now() - RESEND, allowed)
        if not some:
            return False
        await asyncio.gather(*map(self._send, some))
        self._spool.mark_sent([one.number for one in some], self._now())
        self._unasked += len(some)
        if self._unasked >= ASK_AFTER:
            self._unasked = 0
            self._ask()
        return True

    async def _send(self, one: Waiting) -> None:
        """Store an event in the broker. Each attempt has its own id, since the broker drops repeated ids."""
        event = decode(Event, one.data)
        uid = self._spool.uid(one.number)
        subject = SUBJECTS["event"].of(id=self._id, tag=subject_part(event.tag))
        data = encode(replace(event, uid=uid))
        try:
            await self._bus.store(subject, data, id=f"{self._name}.e.{uid}.{one.tries}", timeout=TIMEOUT)
        except TooLarge as problem:
            log.error("the event %s is not sent: %s", event.tag, problem)
