"""The open requests of one connection: a future for each, and no task.

All answers come to one inbox; the last token of a subject says which request is answered. A request ends
with its answer, at its timeout, with the connection, or when the broker refuses to publish it.
"""

from __future__ import annotations

import asyncio
from itertools import count

from msgspec import Struct

from saltern.fleet.bus.ports import BusError, Disconnected, Message, NoAnswer, NoListener, NotPermitted

NO_RESPONDERS = 503


class Question(Struct, frozen=True):
    """One request, and its deadline."""

    subject: str
    future: asyncio.Future[Message]
    until: float


class Requests:
    """The open requests of one connection; ``inbox`` is the subject below which they are answered. One timer
    serves all of them, and stays set when a request is answered: most are, long before their deadline.
    """

    def __init__(self, inbox: str) -> None:
        self.inbox = inbox
        self._numbers = count(1)
        self._open: dict[str, Question] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._ended: BusError | None = None

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, subject: str, timeout: float) -> str:
        """Open a request; return the subject for its answer."""
        if self._ended is not None:
            raise self._ended
        reply = f"{self.inbox}.{next(self._numbers)}"
        loop = asyncio.get_running_loop()
        question = self._open[reply] = Question(subject, loop.create_future(), loop.time() + timeout)
        self._set_alarm(question.until)
        return reply

    async def answer(self, reply: str) -> Message:
        """The answer to an open request."""
        try:
            return await self._open[reply].future
        finally:
            self.forget(reply)

    def _set_alarm(self, at: float) -> None:
        """Check for requests past their deadline at that time, or earlier."""
        if self._alarm is not None:
            if self._alarm.when() <= at:
                return
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_at(at, self._give_up)

    def forget(self, reply: str) -> None:
        self._open.pop(reply, None)

    def put(self, message: Message) -> None:
        """Called with what arrives below the inbox. An answer that comes too late is dropped."""
        found = self._open.get(message.subject)
        if found is None or found.future.done():
            return
        if message.status == NO_RESPONDERS:
            found.future.set_exception(NoListener("nothing listens there"))
        else:
            found.future.set_result(message)

    def refuse(self, subject: str) -> None:
        """End the requests to a subject that the broker does not permit; it names the subject in
        lower case.
        """
        for one in list(self._open.values()):
            if one.subject.lower() == subject and not one.future.done():
                what = f"the broker does not permit publishing to {one.subject!r}"
                one.future.set_exception(NotPermitted(what))

    def end(self, why: str) -> None:
        """End all open requests because the connection is lost."""
        self._ended = Disconnected(why or "the connection was lost")
        if self._alarm is not None:
            self._alarm.cancel()
        for one in self._open.values():
            if not one.future.done():
                one.future.set_exception(self._ended)

    def _give_up(self) -> None:
        """End the requests past their deadline, and set the timer for the next deadline."""
        self._alarm = None
        now = asyncio.get_running_loop().time()
        waiting = [one for one in self._open.values() if not one.future.done()]
        for one in waiting:
            if one.until <= now:
                one.future.set_exception(NoAnswer("no answer came in time"))
        if left := [one.until for one in waiting if one.until > now]:
            self._set_alarm(min(left))
