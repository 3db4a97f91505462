"""The streams of the bus in memory."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from random import Random
from typing import Protocol

from saltern.fleet.bus.faults import Faults
from saltern.fleet.bus.memory_stream import MemoryReader, MemoryStream
from saltern.fleet.bus.ports import (
    Delivery,
    Kept,
    Message,
    NoStream,
    NotPermitted,
    ReaderOptions,
    Stored,
    StreamRefused,
    StreamState,
)
from saltern.fleet.protocol.streams import Stream
from saltern.fleet.protocol.subjects import covers

STEP = 0.01  # seconds between two checks of a reader that waits


class Hub(Protocol):
    """What streams need from the broker in memory."""

    streams: dict[str, MemoryStream]
    faults: Faults
    chance: Random

    def stream_for(self, subject: str) -> MemoryStream | None: ...


class MemoryStreams(ABC):
    """What a connection can do with the streams of its hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    @abstractmethod
    def check(self, subject: str = "") -> bool:
        """True if we may publish there; raises if there is no connection."""

    @abstractmethod
    async def ask(self, message: Message, timeout: float, id: str = "") -> Message:
        """One answer to one message; ``id`` is the id of the stored message."""

    @abstractmethod
    async def publish(self, subject: str, data: bytes = b"") -> None:
        """Send a message to current subscribers."""

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None:
        for subject in subjects:
            await self.publish(subject, data)

    async def make_stream(self, stream: Stream, subjects: tuple[str, ...], *, replicas: int = 1) -> None:  # noqa: ARG002
        self.check()
        if found := self.hub.streams.get(stream.name):
            found.stream, found.subjects = stream, subjects
        else:
            tick = asyncio.get_running_loop().time
            self.hub.streams[stream.name] = MemoryStream(stream, subjects, tick)

    def stream(self, name: str) -> MemoryStream:
        self.check()
        try:
            return self.hub.streams[name]
        except KeyError:
            raise NoStream(f"there is no stream {name!r}") from None

    async def stream_state(self, stream: str) -> StreamState:
        return self.stream(stream).state()

    async def subjects(self, stream: str, pattern: str) -> set[str]:
        found = self.stream(stream).messages()
        return {kept.subject for kept in found if covers(pattern, kept.subject)}

    async def store(self, subject: str, data: bytes, *, id: str = "", timeout: float = 5.0) -> Stored:
        if self.check(subject) and self.hub.stream_for(subject) is None:
            raise NoStream(f"no stream keeps {subject!r}")
        said = (await self.ask(Message(subject, data), timeout, id)).headers
        if "refused" in said:
            raise StreamRefused(said["refused"])
        return Stored(said["stream"], int(said["sequence"]), bool(said["duplicate"]))

    async def last(self, stream: str, subject: str, *, timeout: float = 5.0) -> Kept | None:  # noqa: ARG002
        if not self.check(f"$JS.API.DIRECT.GET.{stream}.{subject}"):
            raise NotPermitted(f"the broker does not permit reading {subject!r}")
        found = [kept for kept in self.stream(stream).messages() if kept.subject == subject]
        return found[-1] if found else None

    async def after(self, stream: str, sequence: int, subject: str) -> Kept | None:
        found = self.stream(stream).messages()
        return next((one for one in found if one.sequence > sequence and covers(subject, one.subject)), None)

    async def remove(self, stream: str, subject: str) -> None:
        self.stream(stream).remove(subject)

    async def reader(self, options: ReaderOptions) -> _Reader:
        self.stream(options.stream).reader(options)
        return _Reader(self, options)


class _Reader:
    """A durable reader; deliveries and acknowledgements can be lost, and are then repeated."""

    def __init__(self, streams: MemoryStreams, options: ReaderOptions) -> None:
        self._streams = streams
        self._hub = streams.hub
        self._options = options

    def _place(self) -> tuple[MemoryStream, MemoryReader]:
        stream = self._streams.stream(self._options.stream)
        return stream, stream.reader(self._options)

    async def fetch(self, count: int, wait: float, *, linger: float = 0.0) -> list[Delivery]:  # noqa: ARG002
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while True:
            stream, reader = self._place()
            if found := stream.deliver(reader, count):
                return [one for one in found if not self._hub.faults.is_lost(self._hub.chance)]
            if loop.time() >= end:
                return []
            await asyncio.sleep(STEP)

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        _, reader = self._place()
        for delivery in deliveries:
            if not self._hub.faults.is_lost(self._hub.chance):
                reader.open.pop(int(delivery.token), None)

    async def again(self, delivery: Delivery, delay: float = 0.0) -> None:
        stream, reader = self._place()
        stream.again(reader, int(delivery.token), delay)

    async def stop(self) -> None:
        """Do nothing: messages stay in the stream until they are fetched."""
