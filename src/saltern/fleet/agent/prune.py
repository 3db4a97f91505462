"""Removes what an agent does not keep for ever: ids of expired jobs, unconfirmed returns, old folders."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.protocol.envelope import SKEW

log = logging.getLogger(__name__)

EVERY = 3600.0  # seconds between two rounds
DAY = 86_400.0
OWN = ("facts", "schedule")  # folders of the agent's own queries
KEEP = 7 * DAY  # a return that no controller has stored


class Pruner:
    """Removes them, every hour."""

    def __init__(self, spool: Spool, runner: Runner, jobs: str, now: Callable[[], float]) -> None:
        self._spool = spool
        self._runner = runner
        self._jobs = jobs
        self._now = now

    async def run(self) -> None:
        """Prune for ever."""
        while True:
            try:
                self.prune()
            except SpoolFailed as problem:
                log.error("%s", problem)
            await asyncio.sleep(EVERY)

    def prune(self) -> None:
        """Prune once. An id is kept for as long as its job could be sent again with a valid signature."""
        now = self._now()
        lost = self._spool.prune(expired_before=now - 2 * SKEW, returned_before=now - KEEP)
        if lost:
            log.error(
                "no controller has stored the returns of %d jobs for a week; they are dropped", len(lost)
            )
        if dropped := self._spool.events.prune(now - KEEP):
            log.error("no controller has stored %d events for a week; they are dropped", dropped)
        if self._jobs and os.path.isdir(self._jobs):
            for name in os.listdir(self._jobs):
                if name not in OWN:
                    self._remove_if_over(name)

    def _remove_if_over(self, jid: str) -> None:
        entry = self._spool.entry(jid)
        folder = self._runner.folder(jid)
        if (entry is None or entry.state not in ("waiting", "running")) and not folder.lock.holder():
            folder.remove()
