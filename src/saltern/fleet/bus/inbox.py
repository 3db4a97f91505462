"""What the broker sends to one reader over one connection: messages, and the ends of requests for them.

The end of a request may arrive before its last messages: in a cluster the broker sends a message only when
the other brokers have noted its delivery, and the end of the request at once. So a message is taken whenever
it comes, and never dropped because its request has ended: the broker would send it again only when the time
for its acknowledgement is over, and the next request might miss it in the same way.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from msgspec import Struct

from saltern.fleet.bus import jetstream
from saltern.fleet.bus.ports import Disconnected, Message, NoStream

NO_RESPONDERS = 503
LINGERS = 6  # times that one fetch waits for more
PENDING = "Nats-Pending-Messages"


class Request(Struct):
    """A request for messages: how many it may still bring, and until when it counts."""

    subject: str
    left: int
    until: float
    ended: bool = False
    lost: bool = False  # no answer: the reader does not exist


class Inbox:
    """Collects what arrives on ``subject`` and below it. One request is open at a time."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.is_cut = False
        self.why = ""
        self._messages: deque[Message] = deque()
        self._request = Request("", 0, 0.0, ended=True)
        self._number = 0
        self._wake = asyncio.Event()

    def put(self, message: Message) -> None:
        """Called by the connection with whatever arrives.

        Anything with another subject is a message, whatever its status: an agent can store one with the
        status of an end, and it must not stay unacknowledged for ever.
        """
        request = self._request
        if not message.subject.startswith(self.subject):
            self._messages.append(message)
            request.left -= 1
        elif message.subject == request.subject and message.status in jetstream.ENDS:
            request.ended = True
            request.lost = message.status == NO_RESPONDERS
            request.left -= int(message.headers.get(PENDING, request.left))
        self._wake.set()

    def cut(self, why: str) -> None:
        """Called when the connection has ended."""
        self.is_cut, self.why = True, why
        self._wake.set()

    def begin(self, count: int, until: float) -> str:
        """Open a request; return the subject on which the broker answers it."""
        self._number += 1
        self._request = Request(f"{self.subject}.{self._number}", count, until)
        return self._request.subject

    @property
    def has_messages(self) -> bool:
        return bool(self._messages)

    def is_open(self, now: float) -> bool:
        """True if the broker may still send messages for the last request."""
        request = self._request
        return not request.ended and request.left > 0 and now < request.until

    def is_settled(self) -> bool:
        """True if the last request has ended, and all its messages have arrived."""
        return self._request.left <= 0 or self._request.lost

    def take(self, count: int) -> list[Message]:
        return [self._messages.popleft() for _ in range(min(count, len(self._messages)))]

    async def until_settled(self, end: float) -> None:
        """Wait for the rest of a request that takes only available messages."""
        while not self.is_settled() and await self._wait(end):
            pass
        self._check()

    async def until_first(self, end: float) -> None:
        """Wait for a message, or for the end of the open request."""
        while not self.has_messages and self.is_open(_now()):
            if not await self._wait(min(end, self._request.until)):
                break
        self._check()

    async def until_quiet(self, count: int, linger: float) -> None:
        """Wait while messages of the open request follow each other, up to a number."""
        for _ in range(LINGERS):
            before = len(self._messages)
            if not before or before >= count or self.is_cut or not self.is_open(_now()):
                return
            await asyncio.sleep(linger)
            if len(self._messages) == before:
                return

    def _check(self) -> None:
        if self.has_messages:
            return
        if self.is_cut:
            raise Disconnected(self.why or "the connection was lost")
        if self._request.lost:
            raise NoStream("the reader does not exist")

    async def _wait(self, end: float) -> bool:
        """Wait until something arrives; False when the time is up or the connection has ended."""
        self._wake.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self._wake.wait()
                return not self.is_cut
        return False


def _now() -> float:
    return asyncio.get_running_loop().time()
