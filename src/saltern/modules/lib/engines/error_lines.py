"""Error messages of an engine, beside its events."""

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.lib.engines.drive import Ended
from saltern.modules.lib.engines.marked_lines import why
from saltern.modules.lib.engines.steps import Steps

MOST = 10


class ErrorLines:
    """Reads each line, and keeps the texts that ``pick`` returns, each once."""

    def __init__(self, pick: Callable[[str], str]) -> None:
        self._pick = pick
        self._lines: dict[str, None] = {}

    def read_line(self, line: str) -> None:
        if len(self._lines) < MOST and (found := self._pick(line)):
            self._lines[found] = None

    def why(self, steps: Steps, ended: Ended) -> str:
        """The end of a failure's comment: the steps that failed, or what was kept."""
        return why(steps, ended) if steps.failures or not self._lines else "\n".join(self._lines)
