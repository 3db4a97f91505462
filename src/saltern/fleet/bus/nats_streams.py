"""The streams of a broker, by requests to its API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import msgspec

from saltern.fleet.bus import jetstream
from saltern.fleet.bus.ports import (
    NO_HEADERS,
    BusError,
    Kept,
    Message,
    NoListener,
    NoStream,
    Stored,
    StreamState,
)
from saltern.fleet.protocol.streams import Stream

API_TIMEOUT = 5.0


class NatsStreams(ABC):
    """What can be done with streams by requests alone."""

    @abstractmethod
    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        """One answer to one message."""

    async def api(self, verb: str, body: object = None) -> bytes:
        data = b"" if body is None else msgspec.json.encode(body)
        try:
            answer = await self.request(f"{jetstream.API}.{verb}", data, timeout=API_TIMEOUT)
        except NoListener:
            raise NoStream("the broker has no streams, or the stream does not exist") from None
        return answer.data

    async def make_stream(self, stream: Stream, subjects: tuple[str, ...], *, replicas: int = 1) -> None:
        config = jetstream.stream_config(stream, subjects, replicas)
        try:
            found = await self.api(f"STREAM.INFO.{stream.name}")
            if jetstream.differs(found, config):
                jetstream.check(await self.api(f"STREAM.UPDATE.{stream.name}", config))
        except NoStream:
            jetstream.check(await self.api(f"STREAM.CREATE.{stream.name}", config))

    async def stream_state(self, stream: str) -> StreamState:
        return jetstream.read_state(await self.api(f"STREAM.INFO.{stream}"))

    async def subjects(self, stream: str, pattern: str) -> set[str]:
        found: set[str] = set()
        while True:
            query = {"subjects_filter": pattern, "offset": len(found)}
            page, total = jetstream.read_subjects(await self.api(f"STREAM.INFO.{stream}", query))
            found |= page
            if not page or len(found) >= total:
                return found

    async def store(self, subject: str, data: bytes, *, id: str = "", timeout: float = 5.0) -> Stored:
        headers = {jetstream.MESSAGE_ID: id} if id else NO_HEADERS
        try:
            answer = await self.request(subject, data, timeout=timeout, headers=headers)
        except NoListener:
            raise NoStream(f"no stream keeps {subject!r}") from None
        return jetstream.read_stored(answer.data)

    async def last(self, stream: str, subject: str, *, timeout: float = API_TIMEOUT) -> Kept | None:
        return await self._direct(f"{stream}.{subject}", b"", timeout)

    async def after(self, stream: str, sequence: int, subject: str) -> Kept | None:
        return await self._direct(stream, msgspec.json.encode({"seq": sequence + 1, "next_by_subj": subject}))

    async def _direct(self, which: str, body: bytes, timeout: float = API_TIMEOUT) -> Kept | None:
        try:
            answer = await self.request(f"{jetstream.API}.DIRECT.GET.{which}", body, timeout=timeout)
        except NoListener:
            raise NoStream("the stream does not exist") from None
        if answer.status == jetstream.NOT_FOUND:
            return None
        if answer.status:
            raise BusError(f"the broker answered {answer.status}")
        return jetstream.read_kept(answer.headers, answer.data)

    async def remove(self, stream: str, subject: str) -> None:
        jetstream.check(await self.api(f"STREAM.PURGE.{stream}", {"filter": subject}))
