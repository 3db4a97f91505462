"""A subscription as its user holds it; connections come and go below it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from saltern.fleet.bus.ports import Handler, Message

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class KeptSubscription:
    """Calls the handler with each message, ``parallel`` at a time; what it raises is logged, and ends
    nothing.
    """

    def __init__(
        self,
        spawn: Spawn,
        forget: Callable[[KeptSubscription], Awaitable[None]],
        subject: str,
        handler: Handler,
        *,
        queue: str,
        parallel: int,
        pending: int,
    ) -> None:
        self.subject = subject
        self.queue = queue
        self.pending = pending
        self._spawn = spawn
        self._forget = forget
        self._handler = handler
        self._slots = asyncio.Semaphore(parallel)
        self._alone = parallel == 1

    async def receive(self, message: Message) -> None:
        """Called by the connection, one message after the other; it waits while all slots are in use."""
        if self._alone:
            await self._handle(message)
            return
        await self._slots.acquire()
        task = self._spawn(self._handle(message))
        task.add_done_callback(lambda _task: self._slots.release())

    async def _handle(self, message: Message) -> None:
        try:
            await self._handler(message)
        except Exception:
            log.exception("a handler failed", extra={"subject": message.subject})

    async def stop(self) -> None:
        await self._forget(self)
