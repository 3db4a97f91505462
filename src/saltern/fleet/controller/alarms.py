"""Alarms for operators: refused messages, two machines with one key. Each is counted, logged and an event."""

from __future__ import annotations

import logging
from collections.abc import Callable

from saltern.fleet.bus.tasks import Tasks
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.limits import Offences
from saltern.fleet.store.events import NewEvent, store_events
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

# Why a message of a system was refused, as text.
REASONS: dict[str, str] = {
    "too-large": "the message is too large",
    "too-deep": "the message is nested too deeply",
    "newer": "the message is of a newer version: upgrade the controller",
    "malformed": "the message is malformed",
    "bad-subject": "the subject is not one of the protocol",
    "foreign-reply": "it asks for its answer at the address of another system",
    "foreign-job": "it returns a job that was not sent to it",
    "other-job": "the subject and the message name different jobs",
    "foreign-tag": "it uses an event tag of the controller's, or of another system",
    "unstorable": "the database does not accept what it sends",
    "flood": "it sends more than its share",
    "twin": "two machines use its identity",
    "enrol": "a request to join is refused",
    "peer": "it asks for a function or a runner that it may not run",
    "render": "it asks for a file or a block that is not for it",
}


class Alarms:
    """Reports the same reason for the same system once a minute, with the number of refusals."""

    def __init__(self, calls: Calls, hub: Hub, *, now: Callable[[], float]) -> None:
        self.offences = Offences(now)
        self._calls = calls
        self._hub = hub
        self._now = now
        self._tasks = Tasks()

    def refuse(self, system: str, reason: str, detail: str = "") -> None:
        """Count and report a refused message of a system."""
        if number := self.offences.count(system, reason):
            self._report(system, reason, detail or REASONS.get(reason, reason), number)

    def _report(self, system: str, reason: str, why: str, number: int) -> None:
        log.warning("refused from %s: %s (%d)", system or "an unknown sender", why, number)
        data = {"id": system, "reason": reason, "why": why, "count": number}
        event = NewEvent(tag="saltern/alarm", data=data, at=self._now(), system=system[:255])
        self._tasks.spawn(self._store(event))

    async def _store(self, event: NewEvent) -> None:
        try:
            await self._calls.write(store_events, [event])
        except OperationError as problem:
            log.error("an alarm could not be stored: %s", problem)
        self._hub.wake()

    async def settle(self) -> None:
        """Return when what was reported is stored."""
        await self._tasks.settle()
