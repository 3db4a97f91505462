"""Streaming answers: notices as server-sent events, until the reader leaves or the controller stops.

The reader sets the pace: stored notices wait in the database, and of live ones the hub keeps a bounded number
for each reader. A reader that takes nothing at all is disconnected; it can continue where it left off with
``Last-Event-ID``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress

import msgspec
from starlette.types import Receive, Scope, Send

from saltern.fleet.bus.repeat import is_set_within
from saltern.fleet.protocol.notices import Missed, Notice, PresenceChanged, Progressed

LOG = logging.getLogger("saltern.fleet.api")
KEEP_ALIVE = 15.0  # seconds without a notice after which a comment is sent
STALLED = 60.0  # seconds for which a reader may take nothing
LEAST, MOST = 1024, 256 * 1024  # bytes that are read ahead: more for a reader that takes them
RETRY = 2000  # milliseconds after which a browser connects again
MEDIA = "text/event-stream"
WITHOUT_ID = (Progressed, PresenceChanged, Missed)
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # a proxy must not buffer it
]


def encode_notice(notice: Notice) -> bytes:
    """Encode one event. Only stored notices have an id, and of several for one stored event only the last: a
    reader cannot continue after a live one, or in the middle.
    """
    id_ = b"" if isinstance(notice, WITHOUT_ID) or not notice.number else b"id: %d\n" % notice.number
    kind = str(notice.__struct_config__.tag).encode()
    return b"%sevent: %s\ndata: %s\n\n" % (id_, kind, msgspec.json.encode(notice))


class EventStream:
    """The answer to one reader, with an HTTP status. ``is_allowed`` is checked again from time to time.
    ``first``: a notice that is sent in any case, even if the controller stops.
    """

    def __init__(
        self,
        notices: AsyncIterator[Notice],
        closing: asyncio.Event,
        is_allowed: Callable[[], Awaitable[bool]],
        *,
        status: int = 200,
        first: Notice | None = None,
    ) -> None:
        self._status = status
        self._first = encode_notice(first) if first is not None else b""
        self._notices = notices
        self._closing = closing
        self._is_allowed = is_allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ends = [
            asyncio.create_task(_wait_for_disconnect(receive)),
            asyncio.create_task(_is_set(self._closing)),
        ]
        try:
            await send({"type": "http.response.start", "status": self._status, "headers": _HEADERS})
            await self._send(send, b"retry: %d\n\n%s" % (RETRY, self._first))
            await self._run(send, ends)
            await self._send(send, b"", more=False)
        except TimeoutError:
            LOG.warning("request %s: the reader takes nothing, and is disconnected", scope["saltern_id"])
            scope["state"].get("abort", lambda: None)()
        finally:
            for one in ends:
                one.cancel()

    async def _run(self, send: Send, ends: Sequence[asyncio.Task[object]]) -> None:
        pump = Pump(self._notices)
        for one in ends:
            one.add_done_callback(lambda _: pump.news.set())
        try:
            while not pump.over and not any(one.done() for one in ends):
                if not await pump.wait(KEEP_ALIVE):
                    if not await self._is_allowed():
                        return
                    await self._send(send, b": keep-alive\n\n")
                elif data := pump.take():
                    await self._send(send, data)
            if data := pump.take():
                await self._send(send, data)
        finally:
            await pump.close()

    async def _send(self, send: Send, data: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(STALLED):
            await send({"type": "http.response.body", "body": data, "more_body": more})


async def _wait_for_disconnect(receive: Receive) -> object:
    while (await receive())["type"] != "http.disconnect":
        pass
    return None


async def _is_set(event: asyncio.Event) -> object:
    return await event.wait()


class Pump:
    """Collects notices into blocks of bytes: what arrives together is sent together."""

    def __init__(self, notices: AsyncIterator[Notice]) -> None:
        self.news = asyncio.Event()
        self._notices = notices
        self._data = bytearray()
        self._most = LEAST
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._read())
        self._task.add_done_callback(lambda _: self.news.set())

    async def _read(self) -> None:
        async for notice in self._notices:
            self._data += encode_notice(notice)
            if not self.news.is_set():
                self.news.set()
            if len(self._data) > self._most:
                self._room.clear()
                await self._room.wait()

    @property
    def over(self) -> bool:
        """True if no notices follow; raises the error that ended them."""
        if not self._task.done():
            return False
        self._task.result()
        return True

    async def wait(self, seconds: float) -> bool:
        """Until there is something new; False if there was nothing in that time."""
        if not await is_set_within(self.news, seconds):
            return False
        self.news.clear()
        return True

    def take(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        self._most = min(2 * self._most, MOST)
        self._room.set()
        return data

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task
        close = getattr(self._notices, "aclose", None)
        if close is not None:
            await close()
