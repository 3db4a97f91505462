"""Requests that wait for their answers on one connection: a future for each, and no task.

All answers come to one inbox; the last token of a subject says which request is answered. A request ends
with its answer, with its time, with the connection, or when the broker refuses to publish it.
"""

from __future__ import annotations

import asyncio
from itertools import count

from saltern.fleet.bus.ports import BusError, Disconnected, Message, NoAnswer, NoListener, NotPermitted

NO_RESPONDERS = 503


class Requests:
    """The open requests of one connection; ``inbox`` is the subject below which they are answered."""

    def __init__(self, inbox: str) -> None:
        self.inbox = inbox
        self._numbers = count(1)
        self._open: dict[str, tuple[str, asyncio.Future[Message]]] = {}
        self._ended: BusError | None = None

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, subject: str) -> str:
        """Open a request; the subject for its answer."""
        if self._ended is not None:
            raise self._ended
        reply = f"{self.inbox}.{next(self._numbers)}"
        self._open[reply] = subject, asyncio.get_running_loop().create_future()
        return reply

    async def answer(self, reply: str, timeout: float) -> Message:
        """The answer to an open request."""
        future = self._open[reply][1]
        alarm = asyncio.get_running_loop().call_later(timeout, self._give_up, reply)
        try:
            return await future
        finally:
            alarm.cancel()
            self.forget(reply)

    def forget(self, reply: str) -> None:
        self._open.pop(reply, None)

    def put(self, message: Message) -> None:
        """Called with what arrives below the inbox. An answer that is too late is for no one."""
        found = self._open.get(message.subject)
        if found is None or found[1].done():
            return
        if message.status == NO_RESPONDERS:
            found[1].set_exception(NoListener("nothing listens there"))
        else:
            found[1].set_result(message)

    def refuse(self, subject: str) -> None:
        """The broker does not permit publishing to a subject, which it names in lower case."""
        for asked, future in list(self._open.values()):
            if asked.lower() == subject and not future.done():
                what = f"the broker does not permit publishing to {asked!r}"
                future.set_exception(NotPermitted(what))

    def end(self, why: str) -> None:
        """The connection is lost: all that is open ends now."""
        self._ended = Disconnected(why or "the connection was lost")
        for _, future in self._open.values():
            if not future.done():
                future.set_exception(self._ended)

    def _give_up(self, reply: str) -> None:
        found = self._open.get(reply)
        if found is not None and not found[1].done():
            found[1].set_exception(NoAnswer("no answer came in time"))
