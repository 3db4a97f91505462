"""Keeps the returns of jobs on a disk that may be full."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from saltern.fleet.agent.returns import kept_records
from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.spool import LOCAL, REPORTED, Entry, Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.protocol.messages import Job, Records, Return

log = logging.getLogger(__name__)

UNSENT = 2**53  # all records of a run that no controller requested
FULL = 5.0  # seconds after which a spool that could not be written is tried again


class Supply(Protocol):
    """Fetches what a job needs before its worker is started."""

    async def options(self, job: Job) -> dict[str, object]:
        """Options for the worker; ``NotFetched`` if what it needs cannot be fetched."""
        ...

    def release(self, jid: str) -> None:
        """Release what the job used, because it has ended."""
        ...


class ReturnKeeper:
    """Puts the return of a job into the spool, then releases what the job used. ``returned`` is called with
    its id.
    """

    def __init__(
        self,
        spool: Spool,
        runner: Runner,
        now: Callable[[], float],
        *,
        returned: Callable[[str], None],
        supply: Supply | None,
        retry: float,
    ) -> None:
        self._spool = spool
        self._runner = runner
        self._now = now
        self._returned = returned
        self._supply = supply
        self._retry = retry

    async def finish(self, entry: Entry, parts: Callable[[], Iterable[Return | Records]]) -> None:
        """Keep a return. On a full disk, wait: a return must not be lost."""
        while True:
            try:
                self._spool.finish(_add_job(entry, parts()), self._now())
                break
            except SpoolFailed as problem:
                log.error("the return of job %s waits: %s", entry.jid, problem)
                await asyncio.sleep(self._retry)
        self._runner.folder(entry.jid).remove()
        if entry.local == LOCAL:
            self._spool.confirm(entry.jid, records=UNSENT)
        if self._supply:
            self._supply.release(entry.jid)
        self._returned(entry.jid)

    def collect_records(self, jid: str) -> bool:
        """Store the records that a worker has written so far, to be sent; False if there is nothing new."""
        folder = self._runner.folder(jid)
        if not (files := folder.batches()):
            return False
        entry = self._spool.entry(jid)
        if entry is None or entry.local == LOCAL:
            return False
        self._spool.finish(kept_records(folder), self._now())
        for path in files:
            os.remove(path)
        return True


def _add_job(entry: Entry, parts: Iterable[Return | Records]) -> Iterable[Return | Records]:
    """Add the job itself to the return of a job that no controller knows."""
    for one in parts:
        if entry.local == REPORTED and isinstance(one, Return):
            yield replace(one, function=entry.job.function, by=entry.job.user)
        else:
            yield one
