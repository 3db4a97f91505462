"""``AuditWatch``: verifies the audit repeatedly, for a banner on every page.

Verification reads the whole audit, so no page waits for it: from time to time a page starts it in the
background, and all pages show the last result. A broken chain is reported until a later verification finds
it intact.
"""

from __future__ import annotations

import asyncio
import logging

from saltern.fleet.access.ports import CONTROLLER
from saltern.fleet.api.call import Desk
from saltern.fleet.bus.ports import BusError
from saltern.fleet.console.ask import Ask
from saltern.language.diagnostics import SalternError

LOG = logging.getLogger("saltern.fleet.console")
AGAIN = 300.0  # seconds between two verifications


class AuditWatch:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ask = Ask(desk, who=CONTROLLER)
        self._task: asyncio.Task[None] | None = None
        self._looked = 0.0
        self.problem = ""

    def current_problem(self) -> str:
        """What is wrong with the audit, by the last verification; empty if nothing is."""
        due = self._desk.now() - self._looked >= AGAIN
        if due and (self._task is None or self._task.done()):
            self._looked = self._desk.now()
            self._task = asyncio.create_task(self._look())
        return self.problem

    async def _look(self) -> None:
        try:
            found = await self._ask.get("/v1/audit/verify")
        except (SalternError, BusError) as problem:
            LOG.warning("the audit could not be verified: %s", problem)
            return
        self.note(found["problem"])

    def note(self, problem: str) -> None:
        """Record the result of another verification: the page of the audit makes one each time."""
        self._looked, self.problem = self._desk.now(), problem
