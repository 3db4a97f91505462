"""A new run with a journal: claim, prepare, execute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from saltern.config.settings import Settings
from saltern.durable.head import head_of, make_head, restore_session
from saltern.durable.open_journal import end_journal, open_journal
from saltern.engine.apply import Prepared, execute, prepare
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.journal.run_state import RunState, asked_for
from saltern.journal.runs import Runs
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.events import Report
from saltern.plan.plan import Plan
from saltern.runtime.barriers import STOPS
from saltern.system import effects
from saltern.system.own_files import remember
from saltern.system.run_numbers import run_number

if TYPE_CHECKING:
    from saltern.journal.recorder import Recorder
    from saltern.runtime.ports import EventSink


class JournalOptions(Struct, frozen=True, kw_only=True):
    """How a run is recorded.

    ``queue``: seconds to wait for another run to end. ``pillar``: pillar data of the command line.
        ``before``: an earlier run, whose successful states are not run again. ``job``: the fleet job that the
        run belongs to.
    """

    queue: float = 0.0
    pillar: Mapping[str, object] = {}
    before: RunState | None = None
    job: str = ""


class ClaimedRun:
    """A run with its number ``jid`` and exclusive use of this machine. It is executed once."""

    def __init__(
        self, runs: Runs, jid: str, session: Session, request: Request, options: JournalOptions
    ) -> None:
        self._runs = runs
        self.jid = jid
        self._session = session
        self._request = request
        self._options = options

    def execute(self, prepared: Prepared, on_event: EventSink | None = None) -> Report:
        """Run and record what was prepared. A requested barrier is armed when this returns."""
        with open_journal(self._runs, self.jid, self._session) as recorder:
            if prepared.plan is not None:
                self._begin(recorder, prepared.plan)
            report = execute(prepared, recorder, on_event=on_event, jid=self.jid)
            end_journal(recorder, report)
            _drop_carried(report, recorder.number)
        pause_for_barrier(self._runs, report, self._session.settings)
        return report

    def _begin(self, recorder: Recorder, plan: Plan) -> None:
        options = self._options
        head = make_head(self._session, self._request, self.jid, options.pillar, options.job)
        carried = []
        if options.before is not None:
            from saltern.journal.carry import carried_records as carry

            carried = list(carry(plan, options.before))
        recorder.begin(head, plan, _sources(plan), carried)


@contextmanager
def claim_run(session: Session, request: Request, options: JournalOptions) -> Iterator[ClaimedRun]:
    """Lock this machine and give the run a number: within this context, no other run comes between looking
    and acting."""
    remember()
    runs = Runs(session.settings)
    now, asked = session.clock.now(), asked_for(to_builtins(request))
    with runs.lock.hold(run_number(now), now, wait=options.queue, new=True, asked=asked) as jid:
        yield ClaimedRun(runs, jid, session, request, options)
    runs.prune()
    remove_leftovers()


def apply(session: Session, request: Request, on_event: EventSink | None, options: JournalOptions) -> Report:
    """Like ``engine.apply``, with a journal."""
    with claim_run(session, request, options) as run:
        return run.execute(prepare(session, request), on_event)


def failed_part(
    settings: Settings, jid: str, options: JournalOptions
) -> tuple[Session, Request, JournalOptions]:
    """Run the request of an earlier run again, with the current files: only states that failed or were not
    reached, and states that need them. The report has nothing else."""
    old = Runs(settings).state(jid)
    if not old.has_plan:
        what, fix = f"run {jid} broke before it had a plan", "apply the states again"
        raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))
    head = head_of(old)
    session = restore_session(settings, head.settings, head.pillar)
    return session, head.request, replace(options, before=old, pillar=options.pillar or head.pillar)


def pause_for_barrier(runs: Runs, report: Report, settings: Settings) -> None:
    """If the run stopped at a barrier, ask the machine to reboot, or switch builds."""
    if report.stopped in STOPS.values():
        from saltern.durable.barriers.cross import leave_for_barrier

        leave_for_barrier(runs, report.jid, report.stopped, settings)


def remove_leftovers() -> None:
    """If the run changed anything, remove temporary files of killed processes."""
    if effects.has_acted():
        from saltern.system import temporary

        temporary.sweep()


def _drop_carried(report: Report, first: int) -> None:
    """Remove answers of an earlier run from the report: that run has reported them."""
    report.answers = [one for one in report.answers if one.number >= first]
    report.frames = [one for one in report.frames if one.first >= first]


def _sources(plan: Plan) -> dict[str, str]:
    """The texts of the state files."""
    origins = {chunk.declared.origin.file: chunk.declared.origin for chunk in plan.chunks}
    return {file: str(getattr(origin, "source", "")) for file, origin in origins.items()}
