"""Reports why a file or block could not be rendered here: an event for operators; systems get location and
code.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.store.events import NewEvent, store_events

log = logging.getLogger(__name__)

TAG = "saltern/render/problem"
LONGEST = 8000  # characters


class RenderReports:
    """Implements ``render.desk.Report``."""

    def __init__(self, calls: Calls, hub: Hub, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._hub = hub
        self._now = now

    async def __call__(self, id: str, jid: str, what: str, detail: str) -> None:
        first = detail.partition("\n")[0]
        log.warning("%s is not rendered for %s (job %s): %s", what, id, jid, first)
        data = {"id": id, "jid": jid, "what": what, "problem": detail[:LONGEST]}
        event = NewEvent(tag=TAG, data=data, at=self._now(), system=id[:255])
        await self._calls.write(store_events, [event])
        self._hub.wake()
