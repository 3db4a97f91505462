"""Answers that last: notices as server-sent events, until the reader goes or the controller stops.

A reader sets the pace: what is stored waits in the database, and of what is only live the hub keeps a
bounded number for each reader. One that takes nothing at all is disconnected; it continues where it was with
``Last-Event-ID``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from saltern.fleet.protocol.notices import Missed, Notice, PresenceChanged, Progressed

LOG = logging.getLogger("saltern.fleet.api")
KEEP_ALIVE = 15.0  # seconds without a notice after which a comment is sent
STALLED = 60.0  # seconds for which a reader may take nothing
RETRY = 2000  # milliseconds after which a browser connects again
MEDIA = "text/event-stream"
WITHOUT_ID = (Progressed, PresenceChanged, Missed)
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # a proxy must not hold it back
]


def encode_notice(notice: Notice) -> bytes:
    """One event. Only what is stored has an id, and of several notices of one stored event the last: a reader
    cannot continue after what was live, or in the middle.
    """
    id_ = b"" if isinstance(notice, WITHOUT_ID) or not notice.number else b"id: %d\n" % notice.number
    kind = str(notice.__struct_config__.tag).encode()
    return b"%sevent: %s\ndata: %s\n\n" % (id_, kind, msgspec.json.encode(notice))


class EventStream:
    """The answer to one reader. ``is_allowed`` is asked again from time to time."""

    def __init__(
        self,
        notices: AsyncIterator[Notice],
        closing: asyncio.Event,
        is_allowed: Callable[[], Awaitable[bool]],
    ) -> None:
        self._notices = notices
        self._closing = closing
        self._is_allowed = is_allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ends = [asyncio.create_task(_disconnected(receive)), asyncio.create_task(_is_set(self._closing))]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._send(send, b"retry: %d\n\n" % RETRY)
            await self._run(send, ends)
            await self._send(send, b"", more=False)
        except TimeoutError:
            LOG.warning("request %s: the reader takes nothing, and is disconnected", scope["saltern_id"])
            scope["state"].get("abort", lambda: None)()
        finally:
            for one in ends:
                one.cancel()

    async def _run(self, send: Send, ends: Sequence[asyncio.Task[object]]) -> None:
        following = self._following()
        try:
            while not any(one.done() for one in ends):
                waits: list[asyncio.Task[Any]] = [following, *ends]
                await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    notice = following.result()
                    if notice is None:
                        return
                    await self._send(send, encode_notice(notice))
                    following = self._following()
                elif not await self._is_allowed():
                    return
                else:
                    await self._send(send, b": keep-alive\n\n")
        finally:
            await _close(following, self._notices)

    def _following(self) -> asyncio.Task[Notice | None]:
        return asyncio.create_task(_next(self._notices))

    async def _send(self, send: Send, data: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(STALLED):
            await send({"type": "http.response.body", "body": data, "more_body": more})


async def _disconnected(receive: Receive) -> object:
    while (await receive())["type"] != "http.disconnect":
        pass
    return None


async def _is_set(event: asyncio.Event) -> object:
    return await event.wait()


async def _next(notices: AsyncIterator[Notice]) -> Notice | None:
    return await anext(notices, None)


async def _close(following: asyncio.Task[Notice | None], notices: AsyncIterator[Notice]) -> None:
    following.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await following
    close = getattr(notices, "aclose", None)
    if close is not None:
        await close()
