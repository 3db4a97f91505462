"""What came of a run, as a test wants to ask for it."""

from __future__ import annotations

from collections.abc import Iterator

from saltern.language.events import Answer, Report
from saltern.language.result import Outcome, Result


class Ran:
    """``ran["nginx"].changes``; where an ID has several states, ``ran["nginx", "service"]``."""

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
        """The IDs, as they were run."""
        return [one.chunk.id for one in self._states()]

    @property
    def changed(self) -> list[str]:
        """The IDs of what changed something; in test mode, of what would."""
        return [
            one.chunk.id
            for one in self._states()
            if one.result.changes or one.result.outcome is Outcome.WOULD_CHANGE
        ]

    @property
    def failed(self) -> list[str]:
        return [one.chunk.id for one in self._failed()]

    @property
    def skipped(self) -> list[str]:
        """The IDs of what was not called: a condition or a requisite held it back."""
        return [one.chunk.id for one in self._states() if not (one.result.ran and one.result.called)]

    @property
    def steps(self) -> list[str]:
        """The names of the steps that states reported."""
        return [one.chunk.name for one in self.report.answers if one.sub]

    def check(self) -> Ran:
        """Fail the test if a state failed, with the words of each; what they kept from running is counted."""
        bad = self._failed()
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

    def _failed(self) -> list[Answer]:
        forgiven = self.report.forgiven
        return [
            one
            for one in self._states()
            if one.result.outcome is Outcome.FAILED and one.number not in forgiven
        ]

    def _states(self) -> Iterator[Answer]:
        return (one for one in sorted(self.report.answers, key=lambda one: one.number) if not one.sub)
