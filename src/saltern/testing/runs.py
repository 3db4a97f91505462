"""The result of a run, for the assertions of a test."""

from __future__ import annotations

from collections.abc import Iterator

from saltern.language.events import Answer, Report
from saltern.language.result import Outcome, Result


class Ran:
    """``ran["nginx"].changes``; if an ID has several states, ``ran["nginx", "service"]``."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __getitem__(self, asked: str | tuple[str, str]) -> Result:
        id_, state = asked if isinstance(asked, tuple) else (asked, "")
        found = [one for one in self._states() if one.chunk.id == id_ and state in ("", one.chunk.state)]
        if len(found) != 1:
            there = ", ".join(f"{one.chunk.id} ({one.chunk.state})" for one in found or self._states())
            raise KeyError(f"{len(found)} states are called {asked!r}; there are {there}")
        return found[0].result

    def __contains__(self, id_: object) -> bool:
        return any(one.chunk.id == id_ for one in self._states())

    @property
    def order(self) -> list[str]:
        """The IDs in the order in which they ran."""
        return [one.chunk.id for one in self._states()]

    @property
    def changed(self) -> list[str]:
        """The IDs of the states that changed something, or would in test mode."""
        return [
            one.chunk.id
            for one in self._states()
            if one.result.changes or one.result.outcome is Outcome.WOULD_CHANGE
        ]

    @property
    def failed(self) -> list[str]:
        return [one.chunk.id for one in self._failed_answers()]

    @property
    def skipped(self) -> list[str]:
        """The IDs of the states that were not called because of a condition or a requisite."""
        return [one.chunk.id for one in self._states() if not (one.result.ran and one.result.called)]

    @property
    def steps(self) -> list[str]:
        """The names of the steps that states reported."""
        return [one.chunk.name for one in self.report.answers if one.sub]

    def check(self) -> Ran:
        """Fail the test if a state failed, with the comment of each, and the states that did not run
        because of it.
        """
        bad = self._failed_answers()
        causes = [one for one in bad if one.result.ran] or bad
        lines = [
            f"{one.chunk.function} {one.path} ({one.chunk.mark()}): {one.result.comment}" for one in causes
        ]
        held = [one.chunk.id for one in bad if one not in causes]
        if held:
            lines.append(f"not run because of that: {', '.join(held)}")
        if lines:
            raise AssertionError("these states failed:\n" + "\n".join(lines))
        return self

    def _failed_answers(self) -> list[Answer]:
        forgiven = self.report.forgiven
        return [
            one
            for one in self._states()
            if one.result.outcome is Outcome.FAILED and one.number not in forgiven
        ]

    def _states(self) -> Iterator[Answer]:
        return (one for one in sorted(self.report.answers, key=lambda one: one.number) if not one.sub)
