"""Incoming jobs, orders and pokes. The agent obeys only what a controller of the fleet has signed."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable
from random import random

from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.agent.intake import Accept, Refuse, Standing, decide
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.protocol.envelope import Refusal, Refused, Trust, Verified, verify
from saltern.fleet.protocol.messages import Job

log = logging.getLogger(__name__)

LEAST_FREE = 16 * 1024 * 1024  # bytes that must be free on the disk of the spool before a job is taken


class Inbox:
    """Checks incoming messages, and stores jobs. ``refuse`` returns a job that is not taken."""

    def __init__(
        self,
        spool: Spool,
        clock: FleetClock,
        *,
        me: str,
        trust: Trust,
        matches: Callable[[str], bool],
        refuse: Callable[[Job, str], None],
        denied: Callable[[], tuple[str, ...]] = lambda: (),
        free: Callable[[str], int] | None = None,
    ) -> None:
        self.refusals: Counter[str] = Counter()
        self.draining = ""  # by order
        self.refused = ""  # by the last sync
        self.trust = trust
        self._spool = spool
        self._clock = clock
        self._me = me
        self._matches = matches
        self._refuse = refuse
        self._denied = denied
        self._free = free or free_space
        self._born = float(spool.get("born") or 0)
        if not self._born:
            self._born = clock.now()
            spool.put("born", str(self._born))

    def open(self, data: bytes) -> Verified | None:
        """The message in an envelope if the agent must obey it; refused messages are counted and logged."""
        try:
            return verify(data, self.trust, me=self._me, now=self._clock.now(), matches=self._matches)
        except Refused as problem:
            self.refusals[problem.refusal.value] += 1
            if problem.refusal is not Refusal.NOT_ADDRESSED:  # normal where one message is for many
                log.warning("a message was refused: %s", problem)
            return None

    def take(self, data: bytes, *, live: bool) -> bool:
        """Take a job; True if it is new and was stored."""
        found = self.open(data)
        if found is None:
            return False
        try:
            return self.take_job(found.of(Job), found, live=live)
        except Refused as problem:
            self.refusals[problem.refusal.value] += 1
            return False

    def take_job(self, job: Job, found: Verified, *, live: bool) -> bool:
        """Store a job, or refuse it. If the spool cannot be written, the job is refused and not lost.

        An agent that the controllers refuse ignores jobs silently: a refusal from a copy of a machine would
        end the jobs of the original.
        """
        if self.refused:
            self.refusals["refused"] += 1
            return False
        try:
            standing = self._standing_of(job)
            now = self._clock.now()
            issued = found.claims.issued
            decision = decide(job, standing, issued=issued, now=now, live=live, chance=random())
            if isinstance(decision, Accept):
                expires = found.claims.expires
                return self._spool.add(job, received=now, expires=expires, due=decision.due)
            if isinstance(decision, Refuse):
                self._refuse(job, decision.why)
            else:
                self.refusals["known" if standing.known else "older"] += 1
        except SpoolFailed as problem:
            self._refuse(job, str(problem))
        return False

    def unable(self) -> str:
        """Why no job is taken now; empty if jobs are taken."""
        free = self._free(self._spool.path)
        return full_disk(self._spool.path, free) if free < LEAST_FREE else self.draining

    def _standing_of(self, job: Job) -> Standing:
        return Standing(
            known=self._spool.is_known(job.jid),
            draining=self.unable(),
            born=self._born,
            denied=self._denied(),
        )


def full_disk(path: str, free: int) -> str:
    """Why jobs are refused, and what to do."""
    left, least = free // 1024, LEAST_FREE // 1024
    return f"the disk of {path} is full: {left} KiB are left, and {least} are needed; free space there"


def free_space(path: str) -> int:
    """Free bytes on the disk of a file."""
    if path == ":memory:":
        return LEAST_FREE
    found = os.statvfs(os.path.dirname(path))
    return found.f_bavail * found.f_frsize
