"""``Bus``: all that controllers and agents need of a broker.

What is published goes to who listens now, and may be lost. What is stored is acknowledged by the broker; who
stores again with the same id stores once. Who reads a stream by a reader acknowledges each message when it is
done with it, and gets it again otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from saltern.fleet.protocol.streams import Stream

NO_HEADERS: Mapping[str, str] = {}
MAX_PENDING = 65_536  # messages of one subscription that wait for their handler


class BusError(Exception):
    """Base of what can go wrong between us and the broker."""


class Disconnected(BusError):
    """There is no connection now, or it was lost before the answer; what was asked for may have happened."""


class NoAnswer(BusError):
    """No answer came in time; what was asked for may have happened."""


class NoListener(BusError):
    """The broker says that nothing listens on that subject: nothing has happened."""


class NotPermitted(BusError):
    """The broker refuses it to this credential."""


class NotConnected(BusError):
    """The first connection could not be made; the text says why."""


class NoStream(BusError):
    """No stream keeps that subject, or there is no stream of that name."""


class StreamRefused(BusError):
    """The broker does not store it: a limit, or a full disk."""


class TooLarge(BusError):
    """The message is larger than the broker takes."""


class Message(Struct, frozen=True):
    """What a subscription delivers. ``status`` is set by the broker itself: 503 means that nothing
    listened.
    """

    subject: str
    data: bytes = b""
    reply: str = ""
    headers: Mapping[str, str] = NO_HEADERS
    status: int = 0


class Stored(Struct, frozen=True):
    """The broker's word that a message is kept; ``duplicate`` if it was before."""

    stream: str
    sequence: int
    duplicate: bool = False


class Kept(Struct, frozen=True):
    """A message of a stream."""

    subject: str
    sequence: int
    data: bytes
    headers: Mapping[str, str] = NO_HEADERS


class StreamState(Struct, frozen=True):
    """How full a stream is."""

    messages: int
    bytes: int
    first: int
    last: int


class Delivery(Struct, frozen=True):
    """A message that a reader has got and not yet acknowledged. ``attempt`` counts from 1."""

    kept: Kept
    attempt: int
    token: str


class State(Enum):
    """What a watcher is called with."""

    CONNECTED = "connected"
    LOST = "lost"
    RETRY = "retry"
    DROPPED = "dropped"
    REFUSED = "refused"


class Change(Struct, frozen=True):
    """Something happened to the connection, and why."""

    state: State
    why: str = ""


Handler = Callable[[Message], Awaitable[None]]
Watcher = Callable[[Change], None]


class ReaderOptions(Struct, frozen=True, kw_only=True):
    """A durable reader of a stream: all who use its name share its messages."""

    stream: str
    name: str
    subjects: tuple[str, ...] = ()
    ack_wait: float = 10.0  # what a killed reader had got is given to another one after this time
    max_unacknowledged: int = 2000
    from_now: bool = False


class Reader(Protocol):
    """Reads a stream where all with the same name left off."""

    async def fetch(self, count: int, wait: float) -> list[Delivery]:
        """Up to ``count`` messages, as soon as there is one; none after ``wait`` seconds."""
        ...

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge: they are not delivered again."""
        ...

    async def again(self, delivery: Delivery, delay: float = 0.0) -> None:
        """Not done with it: deliver it again after ``delay``."""
        ...

    async def stop(self) -> None:
        """Read no more: what has arrived and was not fetched, others of the same name get at once."""
        ...


class Subscription(Protocol):
    """A subject that is listened to; it outlives reconnections."""

    @property
    def subject(self) -> str: ...

    async def stop(self) -> None: ...


class Streams(Protocol):
    """What the broker keeps."""

    async def make_stream(self, stream: Stream, subjects: tuple[str, ...], *, replicas: int = 1) -> None:
        """Make the stream, or change it to this."""
        ...

    async def stream_state(self, stream: str) -> StreamState: ...

    async def subjects(self, stream: str, pattern: str) -> set[str]:
        """The subjects of which a stream keeps a message."""
        ...

    async def store(self, subject: str, data: bytes, *, id: str = "", timeout: float = 5.0) -> Stored:
        """Publish to a stream, and return when it is kept. The same id again is kept once."""
        ...

    async def last(self, stream: str, subject: str, *, timeout: float = 5.0) -> Kept | None:
        """The newest message of that subject."""
        ...

    async def after(self, stream: str, sequence: int, subject: str) -> Kept | None:
        """The oldest message of that subject, or pattern, with a greater number."""
        ...

    async def remove(self, stream: str, subject: str) -> None:
        """Remove all messages of that subject from a stream."""
        ...

    async def reader(self, options: ReaderOptions) -> Reader: ...


class Bus(Streams, Protocol):
    """A connection to a broker that comes back by itself."""

    @property
    def name(self) -> str:
        """The name of the credential, as it stands in subjects."""
        ...

    @property
    def connected(self) -> bool: ...

    def watch(self, watcher: Watcher) -> None:
        """Call this with each change of the connection."""
        ...

    async def publish(
        self, subject: str, data: bytes = b"", *, reply: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        """Send to who listens now; ``Disconnected`` if there is no connection, and never buffered."""
        ...

    async def flush(self) -> None:
        """Return when the broker has read all that was published before."""
        ...

    async def subscribe(
        self,
        subject: str,
        handler: Handler,
        *,
        queue: str = "",
        parallel: int = 1,
        pending: int = MAX_PENDING,
        sender: int | None = None,
    ) -> Subscription:
        """Call the handler with each message, ``parallel`` at a time. In a queue group one member gets it.

        ``sender`` is the number of the token of the subject that names who sent it: then senders take turns,
        and who floods loses messages of its own only.
        """
        ...

    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        """The first answer; ``NoListener`` at once if nothing listens."""
        ...

    async def renew(self) -> None:
        """Connect anew, with the credential as it is now, before the old connection is closed."""
        ...

    async def close(self) -> None: ...
