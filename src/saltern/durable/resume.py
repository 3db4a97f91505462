"""Continue a broken or paused run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from saltern.config.settings import Settings
from saltern.durable.apply import pause_for_barrier, remove_leftovers
from saltern.durable.head import head_of, restore_session, surroundings
from saltern.durable.open_journal import end_journal, open_journal
from saltern.engine.apply import execute, prepare_plan
from saltern.engine.session import Session
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE, last_resumable
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.events import Report
from saltern.system import clock
from saltern.system.own_files import remember

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink, ResumeQuestion


def resume(
    settings: Settings,
    jid: str | None,
    on_event: EventSink | None,
    *,
    again: Sequence[str] = (),
    ends: Callable[[], bool] | None = None,
    question: ResumeQuestion | None = None,
    prepare: Callable[[Session], None] | None = None,
) -> Report | None:
    """Continue a run; if none is named, the last that can be continued. None: there is nothing to resume.

    A run that waits for a reboot waits here until the machine has rebooted or turns out not to; an interrupt,
    or ``ends``, cancels the reboot where possible. A run that continues with another build of this
    program replaces this process by that build, with the options ``again`` on its command line.
    ``question`` is asked about interrupted states with ``resume: ask``; without one, such a state fails.
    ``prepare`` is called with the session before anything is run.
    """
    remember()
    runs = Runs(settings, opens=True)
    chosen = jid or last_resumable(runs.summaries())
    if chosen is None:
        return None
    _quarantine_if_damaged(runs, chosen, settings)
    with runs.lock.hold(chosen, clock.now(), wait=settings.queue_runs):
        state = runs.state(chosen)  # another process may have continued it meanwhile
        _check(chosen, state)
        head = head_of(state)
        session = restore_session(settings, head.settings, head.pillar)
        session.resume_question = question
        if prepare is not None:
            prepare(session)
        planned = bool(state.open_barriers)
        if planned:
            from saltern.durable.barriers.cross import cross_barriers

            state = cross_barriers(runs, chosen, session.settings, again, ends)
        with open_journal(runs, chosen, session, state) as recorder:
            recorder.resumed(surroundings() | {"at": session.clock.now(), "planned": planned})
            prepared = prepare_plan(session, head.request, recorder.plan())
            report = execute(prepared, recorder, on_event=on_event, jid=chosen)
            end_journal(recorder, report)
        pause_for_barrier(runs, report, session.settings)
    remove_leftovers()
    return report


def _quarantine_if_damaged(runs: Runs, jid: str, settings: Settings) -> None:
    """Report a damaged journal at once, not after waiting for the lock; move it aside."""
    try:
        runs.state(jid)
    except OperationError:
        if runs.is_damaged(jid):
            with runs.lock.hold(jid, clock.now(), wait=settings.queue_runs):
                if runs.is_damaged(jid):
                    runs.put_aside(jid)
        runs.state(jid)


def _check(jid: str, state: RunState) -> None:
    """Raise if the run has nothing left to do."""
    if state.status in RESUMABLE and state.has_plan:
        return
    what, fix = f"run {jid} has {state.status}: nothing is left to do", "`saltern runs` lists all"
    if not state.has_plan:
        what, fix = f"run {jid} broke before it had a plan: nothing was done", "apply the states again"
    raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))
