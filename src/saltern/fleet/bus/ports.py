"""``Bus``: all that controllers and agents need from a broker.

A published message goes to current subscribers, and may be lost. A stored message is acknowledged by the
broker; storing it again with the same id stores it once. A reader of a stream acknowledges each message when
it is done with it, and gets it again otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from saltern.fleet.protocol.streams import Stream

NO_HEADERS: Mapping[str, str] = {}
MAX_PENDING = 65_536  # messages of one subscription that wait for their handler


class BusError(Exception):
    """Base class of errors between this process and the broker."""


class Disconnected(BusError):
    """There is no connection, or it was lost before the answer; the request may have been carried out."""


class NoAnswer(BusError):
    """No answer came in time; the request may have been carried out."""


class NoListener(BusError):
    """The broker says that nothing listens on that subject: nothing has happened."""


class NotPermitted(BusError):
    """The broker does not permit this with this credential."""


class NotConnected(BusError):
    """The first connection could not be made; the text says why."""


class NoStream(BusError):
    """No stream keeps that subject, or there is no stream of that name."""


class StreamRefused(BusError):
    """The broker does not store the message: a limit, or a full disk."""


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
    """The broker's confirmation that a message is stored; ``duplicate`` if it already was."""

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
    """A message that a reader has received and not yet acknowledged. ``attempt`` counts from 1."""

    kept: Kept
    attempt: int
    token: str


class State(Enum):
    """The states that a watcher is notified of."""

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
    """A durable reader of a stream: all readers with its name share its messages."""

    stream: str
    name: str
    subjects: tuple[str, ...] = ()
    ack_wait: float = 10.0  # after this time the messages of a killed reader are delivered to another one
    max_unacknowledged: int = 2000
    from_now: bool = False


class Reader(Protocol):
    """Reads a stream from where all readers of the same name left off."""

    async def fetch(self, count: int, wait: float, *, linger: float = 0.0) -> list[Delivery]:
        """Up to ``count`` messages as soon as there is one, or none after ``wait`` seconds. With ``linger``,
        it may wait for those that follow each other within so many seconds."""
        ...

    async def done(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge: they are not delivered again."""
        ...

    async def again(self, delivery: Delivery, delay: float = 0.0) -> None:
        """Return a message unprocessed, to be delivered again after ``delay``."""
        ...

    async def stop(self) -> None:
        """Stop reading: messages that arrived and were not fetched go to other readers of the same name at
        once.
        """
        ...


class Subscription(Protocol):
    """A subscription to a subject; it outlives reconnections."""

    @property
    def subject(self) -> str: ...

    async def stop(self) -> None: ...


class Streams(Protocol):
    """What the broker keeps."""

    async def make_stream(self, stream: Stream, subjects: tuple[str, ...], *, replicas: int = 1) -> None:
        """Make the stream, or change its configuration."""
        ...

    async def stream_state(self, stream: str) -> StreamState: ...

    async def subjects(self, stream: str, pattern: str) -> set[str]:
        """The subjects that have a message in a stream."""
        ...

    async def store(self, subject: str, data: bytes, *, id: str = "", timeout: float = 5.0) -> Stored:
        """Publish to a stream, and return when the message is stored. A repeated id is stored once."""
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
    """A connection to a broker that reconnects by itself."""

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
        """Send to current subscribers, never buffered; ``Disconnected`` if there is no connection."""
        ...

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None:
        """Send the same to the current subscribers of many subjects, at once."""
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

        ``sender`` is the number of the token of the subject that names the sender: then senders take turns,
        and a sender that floods loses only its own messages.
        """
        ...

    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        """The first answer; ``NoListener`` at once if nothing listens."""
        ...

    async def renew(self) -> None:
        """Connect again with the current credential, then close the old connection."""
        ...

    async def close(self) -> None: ...
