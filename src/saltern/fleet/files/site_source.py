"""Asks the site of an agent for pieces of files, before the fleet is asked over the link."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct

from saltern.fleet.bus.ports import Bus, BusError, Disconnected
from saltern.fleet.protocol.site_messages import BLOB_ANSWER, BlobAnswer
from saltern.fleet.protocol.subjects import SUBJECTS

TIMEOUT = 10.0  # seconds; a site answers sooner, if only that it takes longer
PATIENCE = 120.0  # seconds in which a piece may come over the link of the site
PAUSE = 10.0  # seconds in which a site that does not answer is not asked


class Given(Struct, frozen=True):
    """What a site knows of a piece: its bytes, or that the fleet does not have it."""

    data: bytes | None


class SiteSource:
    """The site of the agent with this id. A site that keeps nothing, does not answer, or is of an earlier
    version is no error: the fleet has all of it.
    """

    def __init__(self, bus: Bus, id: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._bus = bus
        self._id = id
        self._clock = clock
        self._not_before = 0.0

    async def piece(self, name: str) -> Given | None:
        """What the site says; None if the fleet is to be asked."""
        end = self._clock() + PATIENCE
        while self._not_before <= self._clock() < end:
            what, data = await self._ask(name)
            if what is not BlobAnswer.LATER:
                return {BlobAnswer.FOUND: Given(data), BlobAnswer.ABSENT: Given(None)}.get(what)
        return None

    async def _ask(self, name: str) -> tuple[BlobAnswer, bytes]:
        subject = SUBJECTS["site-blob"].of(id=self._id, digest=name)
        try:
            answer = await self._bus.request(subject, timeout=TIMEOUT)
            return BlobAnswer(answer.headers.get(BLOB_ANSWER, "")), answer.data
        except Disconnected:
            pass
        except (BusError, ValueError):  # it is not there, or of another version
            self._not_before = self._clock() + PAUSE
        return BlobAnswer.UNAVAILABLE, b""
