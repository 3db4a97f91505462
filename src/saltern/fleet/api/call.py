"""One request, checked and decoded, as a handler gets it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from saltern.fleet.access.ports import Peer, Principal
from saltern.fleet.access.service import Access
from saltern.fleet.api.once import HEADER
from saltern.fleet.api.refusals import RefusalLimit
from saltern.fleet.controller.service import Fleet

Q = TypeVar("Q")
B = TypeVar("B")
T = TypeVar("T")


class Desk(Struct, kw_only=True):
    """What all requests share."""

    fleet: Fleet
    access: Access
    prefix: str = ""
    url: str = ""  # where browsers reach it, without the prefix
    ca: str = ""  # certificate (PEM) of the CA that the API's own certificate is from
    now: Callable[[], float] = time.time
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    refusals: RefusalLimit = field(default_factory=lambda: RefusalLimit(time.monotonic))


class Call(Struct, Generic[Q, B], kw_only=True):
    """A request and who sent it: the parts of the path, the query and the body of the route's own shapes.
    ``request``: of a write, its method, path and body as they were sent.
    """

    desk: Desk
    who: Principal
    path: dict[str, str]
    query: Q
    body: B
    id: str
    headers: Mapping[str, str]
    peer: Peer
    is_allowed: Callable[[], Awaitable[bool]]
    request: bytes = b""

    @property
    def client_token(self) -> str:
        """The token that identifies a repeated write: from a header, or a field of the body."""
        return self.headers.get(HEADER) or getattr(self.body, "client_token", None) or ""

    async def read(self, query: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of a query of the store, which takes a connection as first argument; run in a thread."""

        def run() -> T:
            with self.desk.fleet.database.read() as connection:
                return query(connection, *arguments, **named)

        return await asyncio.to_thread(without_stop, run)

    async def look(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The same for what reads a row or two and writes nothing. SQLite answers that at once: another
        thread would cost more.
        """
        if not self.desk.fleet.database.is_sqlite:
            return await self.ask(work, *arguments, **named)
        return work(*arguments, **named)

    async def ask(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of something that waits for the database by itself; run in a thread."""
        return await asyncio.to_thread(without_stop, work, *arguments, **named)


def without_stop(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Work whose ``StopIteration`` is another exception: no future takes one, and the request would wait for
    ever.
    """
    try:
        return work(*arguments, **named)
    except StopIteration as problem:
        raise RuntimeError(f"{getattr(work, '__name__', work)} found nothing") from problem
