"""A watcher of a fleet job that only waits; the base of those that print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.fleet.client.problems import ControllerError
from saltern.fleet.protocol.notices import Notice
from saltern.fleet.view.board import Said


class Watcher:
    """Prints nothing; the subclasses replace these methods."""

    records = False
    _reported = False  # whether a lost connection was reported

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, text: str) -> None:
        """Print a line about the job itself."""

    def say(self, said: Sequence[Said]) -> None:
        """Print lines about systems."""

    def broken(self, problem: ControllerError) -> None:
        """Report that the connection to the controller was lost; it is made again."""
        if not self._reported:
            self.note(f"{problem.diagnostics[0].what}; trying again")
        self._reported = True

    def record(self, event: str, **values: object) -> None:
        """Print a line for scripts."""

    def record_notice(self, notice: Notice) -> None:
        """Print a notice as a line for scripts."""

    def ask(self, question: str, answers: Mapping[str, str], *, without: str, again: str) -> str:  # noqa: ARG002
        """Ask what to do; ``without`` is the answer without a terminal, ``again`` that for an invalid
        answer.
        """
        return without

    def close(self) -> None:
        """Leave the screen in its final state. Can be called twice."""
