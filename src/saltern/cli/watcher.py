"""What follows a job of the fleet for one that only waits; the base of those that print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.fleet.client.problems import ControllerError
from saltern.fleet.protocol.notices import Notice
from saltern.fleet.view.board import Said


class Watcher:
    """Writes to nothing: the parts that the others replace."""

    records = False
    _reported = False  # that the controller cannot be reached

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, text: str) -> None:
        """A line about the job itself."""

    def say(self, said: Sequence[Said]) -> None:
        """Lines about systems."""

    def broken(self, problem: ControllerError) -> None:
        """The connection to the controller broke, and is made again."""
        if not self._reported:
            self.note(f"{problem.diagnostics[0].what}; trying again")
        self._reported = True

    def record(self, event: str, **values: object) -> None:
        """A line for scripts."""

    def record_notice(self, notice: Notice) -> None:
        """A notice, as a line for scripts."""

    def ask(self, question: str, answers: Mapping[str, str], *, without: str, again: str) -> str:  # noqa: ARG002
        """What to do now: ``without`` a terminal or an answer this, for an answer that is none ``again``."""
        return without

    def close(self) -> None:
        """Leave the screen as it is to stay. May be called twice."""
