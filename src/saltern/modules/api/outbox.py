"""Events that functions send during a run.

The listener is the reporter of the run: that of a command, or an agent that passes events on to a fleet.
Nothing else needs to know this box.
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

    A parallel state runs in a copy of this process, where a call would reach copies of the listeners
    only: there events are kept, and the state's answer brings them home. While a state that is marked
    ``no_log`` is called, the box is ``hidden``: what is sent has no tag and no data.
    """

    __slots__ = ("_home", "_on_event", "hidden", "kept")

    def __init__(self) -> None:
        self._home = 0
        self.hidden = False
        self._on_event: Callable[[Event], None] | None = None
        self.kept: tuple[tuple[str, dict[str, object]], ...] = ()

    def listen(self, on_event: Callable[[Event], None] | None) -> None:
        """From now on ``on_event`` is called with what is sent in this process."""
        self._on_event = on_event
        self._home = os.getpid()

    def send(self, tag: str, data: dict[str, object]) -> bool:
        """True if there is a listener."""
        if self._on_event is None:
            return False
        if self.hidden:
            tag, data = HIDDEN, dict(UNSAID)
        tag, data = secrets.mask(tag), secrets.masked(data)
        if os.getpid() == self._home:
            self._on_event(Fired(tag, data))
        else:
            self.kept = (*self.kept, (tag, data))
        return True
