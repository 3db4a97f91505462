"""Works on many hosts at once, with limits on all connections and on those through one jump host."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from saltern.fleet.ssh.roster.host import Host

T = TypeVar("T")
AT_ONCE = 50
AT_ONCE_BY_JUMP = 10  # sshd starts to refuse at ten unfinished logins


class Limits:
    """Room for connections."""

    def __init__(self, at_once: int = AT_ONCE, by_jump: int = AT_ONCE_BY_JUMP) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._jumps: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(by_jump))

    @asynccontextmanager
    async def room(self, host: Host) -> AsyncIterator[None]:
        """Wait until one more connection to this host is allowed. Waiting for a jump host does not count."""
        if not host.jump:
            async with self._all:
                yield
            return
        async with self._jumps[host.jump], self._all:
            yield


async def on_each(
    hosts: Iterable[Host], work: Callable[[Host], Awaitable[T]], limits: Limits
) -> dict[str, T]:
    """Do the work on every host, and return its results by id. The work must handle its own problems."""

    async def one(host: Host) -> tuple[str, T]:
        async with limits.room(host):
            return host.id, await work(host)

    return dict(await asyncio.gather(*(one(host) for host in hosts)))
