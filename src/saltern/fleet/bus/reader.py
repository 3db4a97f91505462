"""A durable reader of a stream, over the requests of a bus."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Protocol

import msgspec

from saltern.fleet.bus import jetstream
from saltern.fleet.bus.inbox import Inbox
from saltern.fleet.bus.ports import BusError, Delivery, Kept, Message, NoStream, ReaderOptions

GRACE = 2.0  # seconds after the end of a request in which its messages may still arrive


class Inboxes(Protocol):
    """What a reader needs from the current connection."""

    async def open(self) -> Inbox: ...

    async def close(self, inbox: Inbox) -> None: ...


class Transport(Protocol):
    """What a reader needs from the bus."""

    def inboxes(self) -> Inboxes: ...

    async def api(self, verb: str, body: object = None) -> bytes: ...

    async def publish(self, subject: str, data: bytes = b"", *, reply: str = "") -> None: ...

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None: ...


class StreamReader:
    """Readers of one name share the messages. A reader is made again if the broker has lost it."""

    def __init__(self, bus: Transport, options: ReaderOptions) -> None:
        self._bus = bus
        self._options = options
        self._path = f"{options.stream}.{options.name}"
        self._inbox: Inbox | None = None

    async def make(self) -> None:
        body = {"stream_name": self._options.stream, "config": jetstream.reader_config(self._options)}
        jetstream.check(await self._bus.api(f"CONSUMER.CREATE.{self._path}", body))

    async def fetch(self, count: int, wait: float, *, linger: float = 0.0) -> list[Delivery]:
        """The available messages; if there are none, the first that arrives and those that came with it.
        With ``linger``, also those that follow, as long as one comes in each such time, and few times.

        A request that waits stays open after its first message: what follows it is sent without being asked
        for.
        """
        try:
            inbox = await self._connected_inbox()
            await self._gather(inbox, count, wait)
            if linger:
                await inbox.until_quiet(count, linger)
        except NoStream:
            await self.make()
            return []
        return [_delivery(message) for message in inbox.take(count)]

    async def _gather(self, inbox: Inbox, count: int, wait: float) -> None:
        now = asyncio.get_running_loop().time()
        if inbox.has_messages:
            return
        if not wait or not inbox.is_open(now):
            await self._ask(inbox, count, 0.0, now + GRACE)
            await inbox.until_settled(now + GRACE)
            if wait and not inbox.has_messages:
                await self._ask(inbox, count, wait, now + wait + GRACE)
        if wait:
            await inbox.until_first(now + wait)

    async def _ask(self, inbox: Inbox, count: int, wait: float, until: float) -> None:
        reply = inbox.begin(count, until)
        subject = f"{jetstream.API}.CONSUMER.MSG.NEXT.{self._path}"
        await self._bus.publish(subject, jetstream.fetch_request(count, wait), reply=reply)

    async def _connected_inbox(self) -> Inbox:
        """The inbox of the current connection; messages from an earlier one are taken first."""
        if self._inbox is None or (self._inbox.is_cut and not self._inbox.has_messages):
            self._inbox = await self._bus.inboxes().open()
        return self._inbox

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        await self._bus.publish_each((delivery.token for delivery in deliveries), b"+ACK")

    async def again(self, delivery: Delivery, delay: float = 0.0) -> None:
        wait = msgspec.json.encode({"delay": int(delay * jetstream.NANO)}) if delay else b""
        await self._bus.publish(delivery.token, b"-NAK " + wait)

    async def stop(self) -> None:
        """Return messages that arrived and were not fetched, so that other readers get them at once."""
        inbox, self._inbox = self._inbox, None
        if inbox is None:
            return
        with suppress(BusError):
            await self._bus.inboxes().close(inbox)
            while left := inbox.take(1):
                await self.again(_delivery(left[0]))


def _delivery(message: Message) -> Delivery:
    sequence, attempt = jetstream.read_ack_subject(message.reply)
    kept = Kept(message.subject, sequence, message.data, message.headers)
    return Delivery(kept, attempt, message.reply)
