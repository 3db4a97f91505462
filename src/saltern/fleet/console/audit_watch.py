"""``AuditWatch``: whether the audit is whole, looked at again and again, for a banner on every page.

To verify it is to read all of it, so no page waits for it: the first page of a while has it looked at in the
background, and all pages show what was found last. A chain that is broken stays broken until a later look
finds it whole.
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
AGAIN = 300.0  # seconds between two looks


class AuditWatch:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ask = Ask(desk, who=CONTROLLER)
        self._task: asyncio.Task[None] | None = None
        self._looked = 0.0
        self.problem = ""

    def broken(self) -> str:
        """What is wrong with the audit, as far as is known; empty if nothing is."""
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
        """What someone else has found: the page of the audit verifies it each time."""
        self._looked, self.problem = self._desk.now(), problem
