"""Events of an engine: marked lines in its output."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from saltern.modules.lib.engines.drive import MARK, Ended
from saltern.modules.lib.engines.lines import decode_line
from saltern.modules.lib.engines.steps import Steps

INSIDE = os.path.join(os.path.dirname(__file__), "plugins")
MOST_NAMED = 3
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

Event = dict[str, Any]
Handlers = Mapping[str, Callable[[Event], None]]


class Listener:
    """Reads each line. A marked line is an event; all others are the engine's own messages."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self.heard: set[str] = set()  # kinds of events
        self.unread = 0

    def read_line(self, line: str) -> None:
        if not line.startswith(MARK.decode()):
            return
        event = decode_line(line[1:])
        if not isinstance(event, dict):
            self.unread += 1
            return
        word = str(event.get("event"))
        self.heard.add(word)
        handle = self._handlers.get(word)
        if handle is not None:
            handle(event)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (f"{self.unread} events could not be read",) if self.unread else ()


def why(steps: Steps, ended: Ended) -> str:
    """The end of a failure's comment: the steps that failed, or the engine's last messages."""
    if not steps.failures:
        return COLOURS.sub("", ended.tail)
    more = " …" if len(steps.failures) > MOST_NAMED else ""
    return f"failed: {', '.join(steps.failures[:MOST_NAMED])}{more}"


def text(value: object) -> str:
    """A comment of an engine: text, lines, or nothing."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
