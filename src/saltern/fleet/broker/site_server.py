"""Gives the agents of a site pieces of files. What the site does not have, it fetches from the fleet, once
for all who ask, and keeps.

What goes wrong here is no failure for an agent: it asks the fleet itself then. The answer says in a header
what it is, and comes within a few seconds, however slow the link is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable

from saltern.fleet.broker.site_store import SiteStore, is_name
from saltern.fleet.bus.ports import Bus, BusError, Disconnected, Message
from saltern.fleet.protocol.site_messages import BLOB_ANSWER, BlobAnswer
from saltern.fleet.protocol.subjects import SUBJECTS, is_own_reply

log = logging.getLogger(__name__)

ASKED, BLOB = SUBJECTS["site-blob"], SUBJECTS["blob"]
LATER = 2.0  # seconds after which an agent that waits gets the answer that it takes longer
FETCHES = 8  # pieces that come over the link at a time
SENDS = 32  # pieces that are in memory for agents at a time
PARALLEL = 4096  # agents that wait for what is on its way
TIMEOUT = 30.0  # seconds for a piece over the link
Answer = tuple[BlobAnswer, bytes]


class SiteServer:
    """The service of one site. ``say`` is called with what an operator should know, once."""

    def __init__(
        self, bus: Bus, store: SiteStore, say: Callable[[str], None], *, later: float = LATER
    ) -> None:
        self._bus = bus
        self._store = store
        self._say = say
        self._later = later
        self._said = ""
        self._under_way: dict[str, asyncio.Task[bytes | None]] = {}
        self._fetches = asyncio.Semaphore(FETCHES)
        self._sends = asyncio.Semaphore(SENDS)
        self.refusals: Counter[str] = Counter()
        self.fetched = 0  # bytes that came from the fleet

    async def start(self) -> None:
        await self._bus.subscribe(ASKED.wild(), self._on, parallel=PARALLEL, sender=1)

    async def stop(self) -> None:
        for task in list(self._under_way.values()):
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _on(self, message: Message) -> None:
        fields = ASKED.parse(message.subject)
        sender = message.subject.split(".")[1]
        if not is_own_reply(message.reply, sender):
            self.refusals["foreign-reply"] += 1
            log.warning("%s wants its answer at another one's address: refused", sender)
            return
        if fields is None or not is_name(fields["digest"]):
            self.refusals["malformed"] += 1
            return
        await self._answer(message.reply, fields["digest"])

    async def _answer(self, reply: str, name: str) -> None:
        async with self._sends:
            if (data := await asyncio.to_thread(self._store.read, name)) is not None:
                return await self._send(reply, (BlobAnswer.FOUND, data))
        answer = await self._fetch_or_explain(name)
        async with self._sends:
            return await self._send(reply, answer)

    async def _send(self, reply: str, answer: Answer) -> None:
        what, data = answer
        try:
            await self._bus.publish(reply, data, headers={BLOB_ANSWER: what.value})
        except Disconnected:
            log.info("the broker is gone; who asked asks again")

    async def _fetch_or_explain(self, name: str) -> Answer:
        """What the fleet says, or what there is to say until then."""
        task = self._under_way.get(name) or self._begin(name)
        await asyncio.wait({task}, timeout=self._later)
        if not task.done():
            return BlobAnswer.LATER, b""
        if task.cancelled() or task.exception() is not None:
            return BlobAnswer.UNAVAILABLE, b""
        data = task.result()
        return (BlobAnswer.ABSENT, b"") if data is None else (BlobAnswer.FOUND, data)

    def _begin(self, name: str) -> asyncio.Task[bytes | None]:
        task = self._under_way[name] = asyncio.create_task(self._fetch(name))
        task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return task

    async def _fetch(self, name: str) -> bytes | None:
        """From the fleet. Raises ``BusError``."""
        came = await asyncio.to_thread(self._store.read, name)  # while we looked for it
        if came is not None:
            return came
        async with self._fetches:
            try:
                kept = await self._bus.last(BLOB.stream, BLOB.of(digest=name), timeout=TIMEOUT)
            except BusError as problem:
                log.info("the fleet cannot be asked for %s: %s", name[:12], problem)
                raise
        if kept is None:
            return None
        self.fetched += len(kept.data)
        await self._keep(name, kept.data)
        return kept.data

    async def _keep(self, name: str, data: bytes) -> None:
        try:
            await asyncio.to_thread(self._store.write, name, data)
            self._said = ""
        except OSError as problem:
            what = (
                f"files of the fleet cannot be kept here: {problem.strerror}; agents get them over the link,"
                " each for itself, until there is room"
            )
            if what != self._said:
                self._say(what)
            self._said = what
