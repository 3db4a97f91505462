"""A durable reader of a stream, over the requests of a bus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from saltern.fleet.bus import jetstream
from saltern.fleet.bus.ports import Delivery, Kept, Message, NoStream, ReaderOptions


class Transport(Protocol):
    """What a reader needs of the bus."""

    async def api(self, verb: str, body: object = None) -> bytes: ...

    async def fetch(self, subject: str, data: bytes, limit: int, wait: float) -> list[Message]: ...

    async def publish(self, subject: str, data: bytes = b"") -> None: ...


class StreamReader:
    """All readers of one name share the messages. It is made again if the broker has lost it."""

    def __init__(self, bus: Transport, options: ReaderOptions) -> None:
        self._bus = bus
        self._options = options
        self._path = f"{options.stream}.{options.name}"

    async def make(self) -> None:
        body = {"stream_name": self._options.stream, "config": jetstream.reader_config(self._options)}
        jetstream.check(await self._bus.api(f"CONSUMER.CREATE.{self._path}", body))

    async def fetch(self, count: int, wait: float) -> list[Delivery]:
        """What is there; if that is nothing, the first that comes, and what is there by then."""
        try:
            got = await self._next(count)
            if not got and wait:
                got = await self._next(1, wait)
                if got and count > 1:
                    got += await self._next(count - 1)
        except NoStream:
            await self.make()
            return []
        return [_delivery(message) for message in got]

    async def _next(self, count: int, wait: float = 0.0) -> list[Message]:
        """A request that waits is answered when it is full, and not before: so it asks for one."""
        subject = f"{jetstream.API}.CONSUMER.MSG.NEXT.{self._path}"
        return await self._bus.fetch(subject, jetstream.fetch_request(count, wait), count, wait)

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            await self._bus.publish(delivery.token, b"+ACK")

    async def again(self, delivery: Delivery, delay: float = 0.0) -> None:
        wait = msgspec.json.encode({"delay": int(delay * jetstream.NANO)}) if delay else b""
        await self._bus.publish(delivery.token, b"-NAK " + wait)


def _delivery(message: Message) -> Delivery:
    sequence, attempt = jetstream.read_ack_subject(message.reply)
    kept = Kept(message.subject, sequence, message.data, message.headers)
    return Delivery(kept, attempt, message.reply)
