"""The bus on NATS. The only file that imports ``nats``.

The client library reconnects by itself, but waits a fixed time without jitter, keeps what is published
meanwhile in memory, and ends for good when a credential expires. So it is not allowed to: each connection is
a ``_Link`` that lives once, and ``client.NatsBus`` makes the next one, with back-off, and subscribes again.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Protocol

import nats.errors
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg

from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.inbox import Inbox
from saltern.fleet.bus.ports import (
    NO_HEADERS,
    BusError,
    Change,
    Disconnected,
    Message,
    NoAnswer,
    NoListener,
    NotConnected,
    NotPermitted,
    State,
    TooLarge,
    Watcher,
)
from saltern.fleet.bus.requests import Requests
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.protocol.subjects import inbox_of

log = logging.getLogger(__name__)

FLUSH = 5.0
GRACE = 5.0  # seconds in which an old connection may finish, when a new one has taken its place
SHORT = 0.5  # the same, for one that was never made: after a failed handshake the library waits for ever
MAX_BYTES = 64 * 1024 * 1024  # that wait for the handler of one subscription
_DENIED = re.compile(r'permissions violation for (publish|subscription) to "([^"]+)"')


class Credential(Protocol):
    """Who we are: a JWT, and the key that proves that it is ours. Asked anew for each connection."""

    def jwt(self) -> str: ...

    def sign(self, nonce: bytes) -> bytes: ...


class Connection(Struct, frozen=True, kw_only=True):
    """How to reach the broker. ``name`` is the name in the credential; ``label`` is what the broker shows."""

    servers: tuple[str, ...]
    name: str
    label: str = ""
    credential: Credential | None = None
    tls: SSLContext | None = None
    server_name: str = ""
    backoff: Backoff = Backoff()
    timeout: float = 5.0
    ping: float = 20.0


class ServerFacts(Struct, frozen=True):
    """What the broker says of itself when one connects."""

    version: str
    max_payload: int


class Link:
    """One connection, from its making to its end; it is never used again."""

    def __init__(self, settings: Connection, watcher: Watcher) -> None:
        self.settings = settings
        self.closed = asyncio.Event()
        self.why = ""
        self.denied: Counter[tuple[str, str]] = Counter()
        self.began = 0.0
        self._watcher = watcher
        self._client = Client()
        self._subs: dict[KeptSubscription, Any] = {}
        self._inboxes: dict[Inbox, Any] = {}
        self._requests: Requests | None = None  # with the first one

    async def open(self, server: str) -> None:
        settings, credential = self.settings, self.settings.credential
        options: dict[str, Any] = {
            "name": settings.label or settings.name,
            "inbox_prefix": inbox_of(settings.name),
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,  # of each server, before the first connection
            "reconnect_time_wait": 0,
            "connect_timeout": settings.timeout,
            "ping_interval": settings.ping,
            "max_outstanding_pings": 2,
            "drain_timeout": GRACE,
            "error_cb": self._on_error,
            "closed_cb": self._on_closed,
        }
        if credential is not None:
            options["user_jwt_cb"] = lambda: bytearray(credential.jwt().encode())
            options["signature_cb"] = lambda nonce: base64.b64encode(credential.sign(nonce.encode()))
        if settings.tls is not None:
            options["tls"] = settings.tls
        if settings.server_name:
            options["tls_hostname"] = settings.server_name
        try:
            async with asyncio.timeout(settings.timeout):
                await self._client.connect([server], **options)
        except (OSError, TimeoutError, nats.errors.Error) as problem:
            await self.shut(SHORT)
            raise NotConnected(f"{server}: {self.why or _words(problem)}") from None
        except BaseException:
            await self.shut(SHORT)
            raise
        # The library may return without a connection, if the broker sent something else than it expected.
        if not self._client.is_connected:
            await self.shut(SHORT)
            raise NotConnected(f"{server}: {self.why or 'the broker did not accept the connection'}")
        self.began = asyncio.get_running_loop().time()

    async def _on_error(self, problem: Exception) -> None:
        text = _words(problem)
        if found := _DENIED.search(text):
            self.denied[found[1], found[2]] += 1
            self._watcher(Change(State.REFUSED, text))
            if self._requests is not None:
                self._requests.refuse(found[2])
        elif isinstance(problem, nats.errors.SlowConsumerError):
            self._watcher(
                Change(State.DROPPED, f"messages of {problem.subject} came faster than they were handled")
            )
        elif not isinstance(problem, nats.errors.NoServersError):  # which only follows from what came before
            self.why = text

    async def _on_closed(self) -> None:
        last = self._client.last_error
        if last is not None and not isinstance(last, nats.errors.NoServersError):
            self.why = _words(last)
        self._end()

    @property
    def server_facts(self) -> ServerFacts:
        info = self._client._server_info  # the library has no other way to the version
        return ServerFacts(str(info.get("version", "")), int(info.get("max_payload", 0)))

    @property
    def connected(self) -> bool:
        return self._client.is_connected and not self.closed.is_set()

    async def send(self, subject: str, data: bytes, reply: str, headers: Mapping[str, str]) -> None:
        with _translated():
            await self._client.publish(subject, data, reply=reply, headers=dict(headers) or None)

    async def flush(self, timeout: float) -> None:
        await self._unless_closed(self._client.flush(timeout=timeout))  # type: ignore[arg-type]

    async def ask(self, subject: str, data: bytes, timeout: float, headers: Mapping[str, str]) -> Message:
        """A request that ends at once when the connection does, or when the broker refuses it."""
        requests = self._requests if self._requests is not None else await self._open_requests()
        reply = requests.begin(subject)
        try:
            await self.send(subject, data, reply, headers)
        except BaseException:
            requests.forget(reply)
            raise
        return await requests.answer(reply, timeout)

    async def _open_requests(self) -> Requests:
        requests = self._requests = Requests(self._client.new_inbox())

        async def receive(message: Msg) -> None:
            requests.put(_message(message))

        with _translated():
            await self._client.subscribe(f"{requests.inbox}.*", cb=receive, pending_bytes_limit=MAX_BYTES)
        return requests

    async def _unless_closed(self, work: Coroutine[Any, Any, Any]) -> Any:
        task = asyncio.ensure_future(work)
        closed = asyncio.ensure_future(self.closed.wait())
        try:
            done, _ = await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
            if task not in done:
                raise Disconnected(self.why or "the connection was lost")
            with _translated():
                return task.result()
        finally:
            for one in (task, closed):
                one.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def add(self, sub: KeptSubscription) -> None:
        async def receive(message: Msg) -> None:
            await sub.receive(_message(message))

        right = "subscription", sub.subject.lower()  # the library gives all errors in lower case
        before = self.denied[right]
        with _translated():
            self._subs[sub] = await self._client.subscribe(
                sub.subject,
                queue=sub.queue,
                cb=receive,
                pending_msgs_limit=sub.pending,
                pending_bytes_limit=MAX_BYTES,
            )
        await self.flush(FLUSH)
        if self.denied[right] > before:
            raise NotPermitted(f"the broker does not permit subscribing to {sub.subject!r}")

    async def drop(self, sub: KeptSubscription) -> None:
        if (held := self._subs.pop(sub, None)) is not None and self.connected:
            with suppress(nats.errors.Error):
                await held.unsubscribe()

    async def open_inbox(self) -> Inbox:
        """Where a reader gets its messages, as long as this connection lives."""
        inbox = Inbox(self._client.new_inbox())

        async def receive(message: Msg) -> None:
            inbox.put(_message(message))

        with _translated():
            # Only ends of requests have the subject of the inbox; messages keep those they were stored with.
            self._inboxes[inbox] = await self._client.subscribe(
                f"{inbox.subject}.*", cb=receive, pending_bytes_limit=MAX_BYTES
            )
        return inbox

    async def close_inbox(self, inbox: Inbox) -> None:
        if (held := self._inboxes.pop(inbox, None)) is not None and self.connected:
            with suppress(nats.errors.Error):
                await held.unsubscribe()

    def _end(self) -> None:
        """What waits on this connection waits no longer."""
        self.closed.set()
        for inbox in self._inboxes:
            inbox.cut(self.why)
        if self._requests is not None:
            self._requests.end(self.why)

    async def retire(self) -> None:
        """Finish what is under way, then close."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while self._requests and self.connected:
                    await asyncio.sleep(0.01)
        if self.connected:
            await _settle(self._client.drain(), 2 * GRACE)
        await self.shut()

    async def shut(self, patience: float = 2 * GRACE) -> None:
        await _settle(self._client.close(), patience)
        self._end()


async def _settle(work: Coroutine[Any, Any, None], patience: float) -> None:
    """Let the library clean up, whatever it raises: on a lost connection that may be a cancellation of its
    own.
    """
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=patience)
    if not done:
        task.cancel()
    elif not task.cancelled():
        task.exception()


def _status(message: Msg) -> int:
    text = (message.headers or {}).get("Status", "")
    return int(text) if text.isdigit() else 0


def _message(message: Msg) -> Message:
    return Message(
        message.subject, message.data, message.reply, message.headers or NO_HEADERS, _status(message)
    )


def _words(problem: BaseException) -> str:
    """What the library says, without its prefix and the quotes of the wire."""
    text = str(problem) or type(problem).__name__
    return text.removeprefix("nats: ").strip("' ")


_ERRORS: tuple[tuple[type[Exception], Callable[[str], BusError]], ...] = (
    (nats.errors.NoRespondersError, lambda _text: NoListener("nothing listens there")),
    (nats.errors.TimeoutError, lambda _text: NoAnswer("no answer came in time")),
    (nats.errors.MaxPayloadError, lambda _text: TooLarge("the message is larger than the broker takes")),
    (nats.errors.BadSubjectError, lambda _text: BusError("the subject is not valid")),
    (nats.errors.Error, Disconnected),
    (OSError, Disconnected),
)


class _translated:
    """Errors of the library → ours."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        for theirs, ours in _ERRORS:
            if isinstance(problem, theirs):
                raise ours(_words(problem)) from None
