"""Returns of jobs that are not run. They are not in the spool, so each is sent once, directly."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from saltern.fleet.agent.spool import Spool
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.bus.tasks import Tasks
from saltern.fleet.identity.membership import Membership
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.protocol.subjects import SUBJECTS

log = logging.getLogger(__name__)


class Refusals:
    """Sends them in the background, because the broker may be slow. Their ids contain the spool's mark."""

    def __init__(self, bus: Bus, member: Membership, now: Callable[[], float], spool: Spool) -> None:
        self._bus = bus
        self._member = member
        self._mark = f"{member.name}.{spool.mark}"
        self._now = now
        self._tasks = Tasks()

    def refuse(self, job: Job, why: str) -> None:
        """Return that a job is not run."""
        log.warning("job %s is refused: %s", job.jid, why)
        self._tasks.spawn(self._send(job, why))

    async def _send(self, job: Job, why: str) -> None:
        now = self._now()
        message = Return(jid=job.jid, status="refused", why=why, started=now, ended=now)
        subject = SUBJECTS["return"].of(id=self._member.id, jid=job.jid)
        with suppress(BusError):
            await self._bus.store(subject, encode(message), id=f"{self._mark}.{job.jid}.0")

    async def close(self) -> None:
        """End what is not sent yet."""
        await self._tasks.end()
