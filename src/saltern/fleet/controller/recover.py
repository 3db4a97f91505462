"""After a restored backup: recovers younger jobs from the broker.

A job in the stream is signed by a controller of this fleet, so it can be trusted. Its returns are read again
from the beginning of their stream, by a reader with a new name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import Bus, Delivery, ReaderOptions
from saltern.fleet.controller.backup import GENERATION
from saltern.fleet.controller.calls import Calls
from saltern.fleet.protocol.envelope import Claims, Refused, Trust, verify
from saltern.fleet.protocol.messages import Envelope, Job
from saltern.fleet.store import job_queries
from saltern.fleet.store.database import Connection
from saltern.fleet.store.jobs import NewJob, create_job
from saltern.fleet.store.settings import read_setting, write_setting

log = logging.getLogger(__name__)

BATCH = 500
RECOVERED = "recovered"
Resolve = Callable[[str], list[str]]


class Found(Struct, frozen=True):
    """A job that was sent, when, and to which systems."""

    job: Job
    issued: float
    expires: float
    systems: tuple[str, ...]
    target: str


def generation(connection: Connection) -> str:
    """A word that changes with each restored backup; empty if there was none."""
    return read_setting(connection, GENERATION, str) or ""


def reader_name(word: str) -> str:
    """The name of the reader of returns: a new name starts at the beginning of the stream."""
    return f"indexer-{word}" if word else "indexer"


async def recover_jobs(bus: Bus, calls: Calls, trust: Trust, resolve: Resolve) -> int:
    """Store the jobs of the stream that the database lacks; return how many there were.

    Done once for each restored backup; a crash in between repeats it, which changes nothing.
    """
    word = await calls.read(generation)
    if not word or await calls.read(_recovery_mark) == word:
        return 0
    reader = await bus.reader(ReaderOptions(stream="JOBS", name=f"recover-{word}"))
    total = 0
    while deliveries := await reader.fetch(BATCH, 0.5):
        found = [one for delivery in deliveries if (one := read_job(delivery, trust, resolve))]
        total += await calls.write(_write, found)
        await reader.done(deliveries)
    await reader.stop()
    await calls.write(write_setting, RECOVERED, word)
    return total


def read_job(delivery: Delivery, trust: Trust, resolve: Resolve) -> Found | None:
    """The job of a stored message, if a controller of this fleet has signed it. It may have expired."""
    try:
        envelope = msgspec.json.decode(delivery.kept.data, type=Envelope)
        claims = msgspec.json.decode(envelope.signed, type=Claims)
        audience = claims.audience
        me = audience.ids[0] if audience.ids else ""
        verified = verify(delivery.kept.data, trust, me=me, now=claims.issued, matches=lambda _: True)
        job = verified.of(Job)
    except (msgspec.DecodeError, Refused):
        log.warning("a message in JOBS is not a job of this fleet; it is left out")
        return None
    systems = tuple(audience.ids) or tuple(resolve(audience.expression))
    target = audience.expression or f"L@{','.join(audience.ids)}"
    return Found(job, claims.issued, claims.expires, systems, target)


def _recovery_mark(connection: Connection) -> str:
    return read_setting(connection, RECOVERED, str) or ""


def _write(connection: Connection, found: Iterable[Found]) -> int:
    total = 0
    for one in found:
        if job_queries.job(connection, one.job.jid) is None:
            new = NewJob(job=one.job, target=one.target, systems=one.systems, expires=one.expires)
            create_job(connection, new, one.issued)
            total += 1
    return total
