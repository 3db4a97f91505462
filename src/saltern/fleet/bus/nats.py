"""The bus on NATS. The only file that imports ``nats``.

The client library reconnects by itself, but waits a fixed time without jitter, keeps what is published
meanwhile in memory, and ends for good when a credential expires. So each connection is a ``Link`` that is
used once, and ``client.NatsBus`` makes the next one, with back-off, and subscribes again.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from saltern.fleet.bus.connection import Connection, ServerFacts
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
from saltern.fleet.bus.reasons import reason_of
from saltern.fleet.bus.requests import Requests
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.bus.wire import command, command_blocks, header_block, is_subject, read_headers, text
from saltern.fleet.protocol.subjects import inbox_of

log = logging.getLogger(__name__)

FLUSH = 5.0
GRACE = 5.0  # seconds in which an old connection may finish when a new one has replaced it
SHORT = 0.5  # the same, for one that was never made: after a failed handshake the library waits for ever
MAX_BYTES = 64 * 1024 * 1024  # messages that wait for the handler of one subscription
MAX_UNREAD = 1024 * 1024  # bytes that the broker has not read, above which no further request is written
STATUS = "Status"
# uvloop raises the last one for a write to a connection that it has closed.
FAILURES = (nats.errors.Error, OSError, RuntimeError)
Taker = Callable[[Message], None]
_DENIED = re.compile(r'permissions violation for (publish|subscription) to "([^"]+)"')


class _Client(Client):
    """The client of the library, with a faster path for messages that are only put somewhere: no queue, and
    no task that waits for it.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        super().__init__()
        self._takers: dict[int, Taker] = {}
        self._ended = ended

    async def _close(self, status: int, do_cbs: bool = True) -> None:
        """Report the end first, and send nothing over a broken connection: the library would fail or wait,
        and the end would never be reported.
        """
        if status == Client.CLOSED:
            self._ended()
        if self._status == Client.DISCONNECTED:
            self._pending, self._pending_data_size = [], 0
        await super()._close(status, do_cbs)

    async def take(self, subject: str, taker: Taker) -> Any:
        """Subscribe; ``taker`` is called with each message as it arrives."""
        self._takers[self._sid + 1] = taker  # the next subscription has that number
        return await self.subscribe(subject)

    async def release(self, held: Any) -> None:
        """End a subscription that ``take`` has made."""
        self._takers.pop(held._id, None)
        await held.unsubscribe()

    def put(self, subject: str, reply: str, data: bytes, headers: Mapping[str, str]) -> None:
        """Publish at once a message whose answer is awaited anyway: no future, no queue, no task that empties
        it.
        """
        if not self.is_connected or self._transport is None:
            raise nats.errors.ConnectionClosedError
        head = header_block(headers)
        if len(head) + len(data) > self._max_payload:  # for which the broker would close the connection
            raise nats.errors.MaxPayloadError
        if not is_subject(subject):
            raise nats.errors.BadSubjectError
        if self._pending:  # it is written before the message
            self._transport.writelines(self._pending)
            self._pending, self._pending_data_size = [], 0
        self._transport.write(command(subject, reply, data, head))

    @property
    def is_behind(self) -> bool:
        """True if the broker reads more slowly than we write."""
        writer = getattr(self._transport, "_io_writer", None)
        return writer is not None and writer.transport.get_write_buffer_size() > MAX_UNREAD

    async def catch_up(self, timeout: float) -> None:
        """Wait until the broker has read what was written."""
        async with asyncio.timeout(timeout):
            await self._transport.drain()  # type: ignore[union-attr]

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None:
        """Publish the same data to many subjects, in few writes; large data as the broker takes it."""
        if not self.is_connected:
            raise nats.errors.ConnectionClosedError
        if len(data) > self._max_payload:  # for which the broker would close the connection
            raise nats.errors.MaxPayloadError
        subjects = [*subjects]
        if not all(map(is_subject, subjects)):
            raise nats.errors.BadSubjectError
        for block in command_blocks(subjects, data):
            await self._send_command(block)
        await self._flush_pending()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        """Handle a message. None may end the reading: the bus would receive nothing for a minute."""
        taker = self._takers.get(sid)
        try:
            if taker is None:
                await super()._process_msg(sid, subject, reply, data, headers)
            else:
                taker(Message(text(subject), bytes(data), text(reply), *read_headers(headers)))
        except Exception:
            log.exception("a message on %r cannot be taken", subject)

    async def _process_headers(self, headers: bytes) -> dict[str, str] | None:
        """Read headers as ``wire`` does: the library fails on bytes that are not text."""
        found, status = read_headers(headers)
        own = {name: value for name, value in found.items() if name != STATUS}
        return own | {STATUS: str(status)} if status else own or None

    def _build_message(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: Any) -> Any:
        return super()._build_message(sid, text(subject).encode(), text(reply).encode(), data, headers)


class LinkInboxes:
    """The inboxes of readers, for the lifetime of a connection."""

    def __init__(self, client: _Client) -> None:
        self._client = client
        self._held: dict[Inbox, Any] = {}

    async def open(self) -> Inbox:
        inbox = Inbox(self._client.new_inbox())
        with _translated():
            # Only ends of requests have the subject of the inbox; messages keep the subject they were stored
            # with.
            self._held[inbox] = await self._client.take(f"{inbox.subject}.*", inbox.put)
        return inbox

    async def close(self, inbox: Inbox) -> None:
        if (held := self._held.pop(inbox, None)) is not None and self._client.is_connected:
            with suppress(*FAILURES):
                await self._client.release(held)

    def cut(self, why: str) -> None:
        """The connection has ended, for this reason."""
        for inbox in self._held:
            inbox.cut(why)


class Link:
    """One connection, from its start to its end; it is never reused."""

    def __init__(self, settings: Connection, watcher: Watcher) -> None:
        self.settings = settings
        self.closed = asyncio.Event()
        self.why = ""
        self.denied: Counter[tuple[str, str]] = Counter()
        self.began = 0.0
        self._watcher = watcher
        self._client = _Client(self._on_closed)
        self._subs: dict[KeptSubscription, Any] = {}
        self.inboxes = LinkInboxes(self._client)
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
        except FAILURES as problem:
            await self.shut(SHORT)
            raise NotConnected(f"{server}: {self.why or reason_of(problem)}") from None
        except BaseException:
            await self.shut(SHORT)
            raise
        # The library may return without a connection if the broker sent something unexpected.
        if not self._client.is_connected:
            await self.shut(SHORT)
            raise NotConnected(f"{server}: {self.why or 'the broker did not accept the connection'}")
        self.began = asyncio.get_running_loop().time()

    async def _on_error(self, problem: Exception) -> None:
        said = reason_of(problem)
        if found := _DENIED.search(said):
            self.denied[found[1], found[2]] += 1
            self._watcher(Change(State.REFUSED, said))
            if self._requests is not None:
                self._requests.refuse(found[2])
        elif isinstance(problem, nats.errors.SlowConsumerError):
            self._watcher(
                Change(State.DROPPED, f"messages of {problem.subject} came faster than they were handled")
            )
        elif not isinstance(problem, nats.errors.NoServersError):  # which only follows another error
            self.why = said

    def _on_closed(self) -> None:
        last = self._client.last_error
        if last is not None and not isinstance(last, nats.errors.NoServersError):
            self.why = reason_of(last)
        self._end()

    @property
    def server_facts(self) -> ServerFacts:
        info = self._client._server_info  # the library offers no other way to get the version
        return ServerFacts(str(info.get("version", "")), int(info.get("max_payload", 0)))

    @property
    def connected(self) -> bool:
        return self._client.is_connected and not self.closed.is_set()

    async def send(self, subject: str, data: bytes, reply: str, headers: Mapping[str, str]) -> None:
        try:
            await self._client.publish(subject, data, reply=reply, headers=dict(headers) if headers else None)
        except FAILURES as problem:
            raise _translation(problem) from None

    async def send_each(self, subjects: Iterable[str], data: bytes) -> None:
        with _translated():
            await self._client.publish_each(subjects, data)

    async def flush(self, timeout: float) -> None:
        task = asyncio.ensure_future(self._client.flush(timeout=timeout))  # type: ignore[arg-type]
        closed = asyncio.ensure_future(self.closed.wait())
        try:
            done, _ = await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
            if task not in done:
                raise Disconnected(self.why or "the connection was lost")
            with _translated():
                task.result()
        finally:
            for one in (task, closed):
                one.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def ask(self, subject: str, data: bytes, timeout: float, headers: Mapping[str, str]) -> Message:
        """Send a request; it ends at once when the connection ends or the broker refuses it."""
        requests = self._requests
        if requests is None:
            requests = self._requests = Requests(self._client.new_inbox())
            with _translated():
                await self._client.take(f"{requests.inbox}.*", requests.put)
        try:
            if self._client.is_behind:
                await self._client.catch_up(timeout)
        except TimeoutError:
            raise NoAnswer("the broker does not read what is sent to it") from None
        except FAILURES as problem:
            raise _translation(problem) from None
        reply = requests.begin(subject, timeout)
        try:
            self._client.put(subject, reply, data, headers)
        except FAILURES as problem:
            requests.forget(reply)
            raise _translation(problem) from None
        except BaseException:
            requests.forget(reply)
            raise
        return await requests.answer(reply)

    async def add(self, sub: KeptSubscription) -> None:
        async def receive(message: Msg) -> None:
            await sub.receive(_message(message))

        right = "subscription", sub.subject.lower()  # the library converts all errors to lower case
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
            with suppress(*FAILURES):
                await held.unsubscribe()

    def _end(self) -> None:
        """End everything that waits on this connection."""
        self.closed.set()
        self.inboxes.cut(self.why)
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
    """Let the library clean up, and ignore what it raises: on a lost connection that may be its own
    cancellation.
    """
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=patience)
    if not done:
        task.cancel()
    elif not task.cancelled():
        task.exception()


def _message(message: Msg) -> Message:
    headers = message.headers or NO_HEADERS
    return Message(message.subject, message.data, message.reply, headers, int(headers.get(STATUS, 0)))


_ERRORS: tuple[tuple[type[Exception], Callable[[str], BusError]], ...] = (
    (nats.errors.NoRespondersError, lambda _text: NoListener("nothing listens there")),
    (nats.errors.TimeoutError, lambda _text: NoAnswer("no answer came in time")),
    (nats.errors.MaxPayloadError, lambda _text: TooLarge("the message is larger than the broker takes")),
    (nats.errors.BadSubjectError, lambda _text: BusError("the subject is not valid")),
    (nats.errors.Error, Disconnected),
    (OSError, Disconnected),
    (RuntimeError, Disconnected),
)


def _translation(problem: BaseException) -> BusError:
    """An error of the library as ours."""
    return next(ours for theirs, ours in _ERRORS if isinstance(problem, theirs))(reason_of(problem))


class _translated:
    """Errors of the library → ours."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, FAILURES):
            raise _translation(problem) from None
