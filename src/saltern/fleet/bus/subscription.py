"""A subscription that stays the same for its user while connections change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from saltern.fleet.bus.fair import FairQueue
from saltern.fleet.bus.ports import BusError, Change, Handler, Message, State, Watcher
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class KeptSubscription:
    """Calls the handler with each message, ``parallel`` at a time; what it raises is logged.

    With ``sender``, the number of the token that names the sender, senders take turns, and one who sends more
    than its share loses the rest; then ``watcher`` is called.
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
        sender: int | None,
        watcher: Watcher,
    ) -> None:
        self.subject = subject
        self.queue = queue
        self.pending = pending
        self._spawn = spawn
        self._forget = forget
        self._handler = handler
        self._permits = asyncio.Semaphore(parallel)
        self._parallel = parallel
        self._sender = sender
        self._watcher = watcher
        self._queue: FairQueue[Message] = FairQueue()
        self._pumps = 0
        self._problem = ""

    async def receive(self, message: Message) -> None:
        """Called by the connection for each message in turn; waits while all permits are in use."""
        if self._sender is not None:
            self._queue_fairly(message, self._sender)
            return
        if self._parallel == 1:
            await self._handle(message)
            return
        await self._permits.acquire()
        task = self._spawn(self._handle(message))
        task.add_done_callback(lambda _task: self._permits.release())

    def _queue_fairly(self, message: Message, sender: int) -> None:
        name = message.subject.split(".")[sender]
        if not self._queue.put(name, message):
            self._watcher(Change(State.DROPPED, f"{name} sends faster than it is answered"))
        elif self._pumps < self._parallel:
            self._pumps += 1
            self._spawn(self._pump())

    async def _pump(self) -> None:
        try:
            while (message := self._queue.get()) is not None:
                await self._handle(message)
                await asyncio.sleep(0)  # other senders also get their turn while one floods
        finally:
            self._pumps -= 1

    async def _handle(self, message: Message) -> None:
        try:
            await self._handler(message)
            self._problem = ""
        except (BusError, OperationError, TimeoutError) as problem:
            self._report(str(problem) or type(problem).__name__)
        except Exception:
            log.exception("a handler failed", extra={"subject": message.subject})

    def _report(self, problem: str) -> None:
        """Log once, until it works again, that the database or the broker is away. The sender asks again."""
        if problem != self._problem:
            log.warning("a message on %s cannot be handled now: %s", self.subject, problem)
        self._problem = problem

    async def stop(self) -> None:
        await self._forget(self)
