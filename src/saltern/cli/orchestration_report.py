"""Report an orchestration to its controller, and notice if it is cancelled there."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from saltern.cli.output import exit_code
from saltern.language.diagnostics import Diagnostic, OperationError, SalternError
from saltern.language.events import ChunkStarted
from saltern.modules.api.orchestration import CallRefused
from saltern.report.salt import to_dict
from saltern.report.verdict import totals
from saltern.runtime.barriers import INTERRUPTED

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.fleet.orchestration.folder import Note
    from saltern.fleet.orchestration.ports import Fleet
    from saltern.language.events import Event, Report
    from saltern.runtime.ports import EventSink


class Reported:
    """One orchestration as a job of its controller."""

    def __init__(self, fleet: Fleet, note: Note, settings: Settings) -> None:
        self._fleet = fleet
        self._note = note
        self._settings = settings
        self._began = time.time()

    def begin(self) -> None:
        """Register it as a job. Raises ``OperationError`` if it was cancelled, or if that is refused."""
        settings, note = self._settings, self._note
        try:
            wanted = self._fleet.begin(
                note.sls,
                settings.id,
                test=settings.test,
                environment=settings.saltenv or "base",
                parent=note.parent,
            )
        except CallRefused as problem:
            raise OperationError(Diagnostic(code="orchestration-refused", what=str(problem))) from None
        if not wanted:
            what, fix = f"orchestration {note.jid} was cancelled", "start a new one"
            raise OperationError(Diagnostic(code="orchestration-cancelled", what=what, fix=fix))

    def __enter__(self) -> Reported:
        self.begin()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the job, also if the files do not compile."""
        if isinstance(problem, SalternError):
            found = [str(one.what) for one in problem.diagnostics]
            self._fleet.end("failed", exit_code=3, why=found[0][:500] if found else "", started=self._began)

    def hear(self, event: Event) -> None:
        """If the job is cancelled, end before the next state, as after Ctrl-C."""
        if isinstance(event, ChunkStarted) and self._fleet.is_cancelled():
            raise KeyboardInterrupt

    def follow(self, on_event: EventSink | None) -> EventSink:
        return both(self.hear, on_event)

    def end(self, report: Report) -> bool:
        """Report how it ended; True if it was interrupted and can be resumed."""
        cancelled = report.stopped == INTERRUPTED and self._fleet.is_cancelled()
        if report.stopped == INTERRUPTED and not cancelled:
            return True
        code, found = exit_code(report), totals(report)
        self._fleet.end(
            "cancelled" if cancelled else "failed" if code else "returned",
            exit_code=code,
            changed=found.changed,
            failed=found.failed,
            started=self._began,
            why="called off" if cancelled else "",
            report={"local": to_dict(report)},
        )
        return False


def both(first: EventSink, second: EventSink | None) -> EventSink:
    """A listener that passes events on to another."""

    def hear(event: Event) -> None:
        first(event)
        if second is not None:
            second(event)

    return hear
