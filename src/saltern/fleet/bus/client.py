"""``NatsBus``: a bus that stays connected."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from saltern.fleet.bus.connection import Connection, ServerFacts
from saltern.fleet.bus.kept_link import KeptLink
from saltern.fleet.bus.nats_streams import API_TIMEOUT, NatsStreams
from saltern.fleet.bus.ports import (
    MAX_PENDING,
    NO_HEADERS,
    Handler,
    Message,
    ReaderOptions,
    Watcher,
)
from saltern.fleet.bus.reader import Inboxes, StreamReader
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.bus.tasks import Tasks

log = logging.getLogger(__name__)


def _is_no_noise(record: logging.LogRecord) -> bool:
    """False for the warning that asyncio logs whenever a connection ends that began without TLS, as
    ours do.
    """
    return "eof_received() has no effect" not in record.getMessage()


class NatsBus(NatsStreams):
    """The bus of one credential. Make it with ``connect``."""

    def __init__(self, settings: Connection) -> None:
        self._kept = KeptLink(settings)
        self._tasks = Tasks()
        self.name = settings.name

    @classmethod
    async def connect(cls, settings: Connection, *, wait: float | None = 10.0) -> NatsBus:
        """Connect, and stay connected. With ``wait``, the first connection must be made within that time;
        without it, attempts never end, and ``watch`` reports them.
        """
        logging.getLogger("asyncio").addFilter(_is_no_noise)
        bus = cls(settings)
        await bus._kept.begin(wait)
        return bus

    @property
    def connected(self) -> bool:
        link = self._kept.link
        return link is not None and link.connected

    @property
    def server_facts(self) -> ServerFacts:
        return self._kept.now().server_facts

    def watch(self, watcher: Watcher) -> None:
        self._kept.watchers.append(watcher)

    async def publish(
        self, subject: str, data: bytes = b"", *, reply: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        await self._kept.now().send(subject, data, reply, headers)

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None:
        """Publish the same data to many subjects."""
        await self._kept.now().send_each(subjects, data)

    async def flush(self) -> None:
        await self._kept.now().flush(API_TIMEOUT)

    async def subscribe(
        self,
        subject: str,
        handler: Handler,
        *,
        queue: str = "",
        parallel: int = 1,
        pending: int = MAX_PENDING,
        sender: int | None = None,
    ) -> KeptSubscription:
        sub = KeptSubscription(
            self._tasks.spawn,
            self._kept.forget,
            subject,
            handler,
            queue=queue,
            parallel=parallel,
            pending=pending,
            sender=sender,
            watcher=self._kept.notify,
        )
        await self._kept.add(sub)
        return sub

    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        return await self._kept.now().ask(subject, data, timeout, headers)

    async def reader(self, options: ReaderOptions) -> StreamReader:
        reader = StreamReader(self, options)
        await reader.make()
        return reader

    def inboxes(self) -> Inboxes:
        """The inboxes of the current connection."""
        return self._kept.now().inboxes

    async def renew(self) -> None:
        await self._kept.renew()

    async def wait_connected(self) -> None:
        await self._kept.up.wait()

    async def close(self) -> None:
        await self._kept.end()
        await self._tasks.end()
