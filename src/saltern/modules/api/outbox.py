"""Events that functions send during a run.

The listener is the reporter of the run: of a command, or of an agent that passes events on to a fleet.
Nothing else uses the outbox.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from saltern.language import secrets
from saltern.language.chunk import HIDDEN
from saltern.language.events import Event, Fired
from saltern.language.hidden import UNSAID


class Outbox:
    """One per run.

    A parallel state runs in a copy of this process, where a call would only reach copies of the
    listeners: there events are kept, and returned with the state's result. While a state that is marked
    ``no_log`` is called, the box is ``hidden``: events have no tag and no data.
    """

    __slots__ = ("_home", "_on_event", "hidden", "kept")

    def __init__(self) -> None:
        self._home = 0
        self.hidden = False
        self._on_event: Callable[[Event], None] | None = None
        self.kept: tuple[tuple[str, dict[str, object]], ...] = ()

    def listen(self, on_event: Callable[[Event], None] | None) -> None:
        """Call ``on_event`` with all further events of this process."""
        self._on_event = on_event
        self._home = os.getpid()

    def send(self, tag: str, data: dict[str, object]) -> bool:
        """Send an event; true if there is a listener."""
        if self._on_event is None:
            return False
        if self.hidden:
            tag, data = HIDDEN, dict(UNSAID)
        tag, data = secrets.mask(tag), secrets.mask_all(data)
        if os.getpid() == self._home:
            self._on_event(Fired(tag, data))
        else:
            self.kept = (*self.kept, (tag, data))
        return True
