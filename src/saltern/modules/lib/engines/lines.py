"""The step format: one JSON object per line, each a step or a message about the run.

``docs/reference/step-format.md`` is the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from saltern.language.result import SubResult
from saltern.modules.lib.engines.entries import step

VERSION = 1
EVENTS = ("start", "end")


class Reader:
    """Reads the lines of a program. ``summary`` is what the program reports of the run as a whole."""

    def __init__(self, emit: Callable[[SubResult], None]) -> None:
        self._emit = emit
        self.summary: dict[str, object] = {}
        self.others = 0  # lines that are not JSON objects
        self.other = ""  # the last of them
        self.unknown: list[str] = []  # events that this version does not know

    def read_line(self, line: str) -> None:
        """Report the step of a line, or store its message about the run."""
        if not line.strip():
            return
        found = decode_line(line)
        if not isinstance(found, dict):
            self.others += 1
            self.other = line
        elif "event" not in found:
            self._emit(step(found))
        elif found["event"] in EVENTS:
            self.summary |= {str(key): value for key, value in found.items() if key != "event"}
        elif str(found["event"]) not in self.unknown:
            self.unknown.append(str(found["event"]))

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.others:
            lines = (
                "1 line is not a JSON object"
                if self.others == 1
                else f"{self.others} lines are not JSON objects"
            )
            found.append(f"{lines}; all output is in the log")
        if self.unknown:
            found.append(f"it reported unknown events: {', '.join(self.unknown)}")
        version = self.summary.get("version", VERSION)
        if isinstance(version, int) and version > VERSION:
            found.append(f"it uses version {version} of the step format, newer than {VERSION}")
        return tuple(found)

    def sent_values(self, key: str) -> Mapping[str, object]:
        """A mapping that the program sent in ``start`` or ``end``."""
        value = self.summary.get(key)
        return value if isinstance(value, dict) else {}


def decode_line(line: str) -> object:
    """The value of a line, or None. Lone surrogates, which only Python's reader accepts, are kept."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        pass
    import json

    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
