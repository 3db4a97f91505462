"""Runs that survive: journaled while they happen, and taken up again where they broke."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert, to_builtins
from msgspec.structs import asdict, replace

from saltern.config.settings import Settings
from saltern.engine import apply as engine
from saltern.engine.planning import aggregates
from saltern.journal.fold import RunState
from saltern.journal.recorder import Recorder
from saltern.journal.runs import RESUMABLE, Runs, asked_for
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError
from saltern.language.events import Report
from saltern.language.nature import undeclared
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.report.verdict import failed
from saltern.runtime.barriers import INTERRUPTED, STOPS
from saltern.system import effects, keeper, ledger, reboot
from saltern.system.faults import point
from saltern.system.own_files import remember
from saltern.system.signals import was_terminated

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.runtime.ports import Recorder as Tell


class Ask(Struct, frozen=True, kw_only=True):
    """How a run is to be kept. ``queue``: seconds to wait for another run.

    ``begun`` is told the number of the run before anything is done, so that whoever asks can find it again.
    ``before`` is a run whose failures are to be mended: what it did well is not done again.
    """

    queue: float = 0.0
    pillar: Mapping[str, object] = {}
    begun: Callable[[str], None] | None = None
    before: RunState | None = None


def apply(
    session: Session,
    request: engine.Request,
    tell: Tell | None,
    ask: Ask,
    *,
    compiled: Callable[[], None] | None = None,
    approved: Callable[[], Plan] | None = None,
) -> Report:
    """``engine.apply``, with a journal.

    ``approved`` gives a plan that was made before. It is asked once this machine is ours: nobody else's run
    comes between what it looks at and what is done.
    """
    remember()
    runs = Runs(session.settings)
    now, asked = session.clock.now(), asked_for(to_builtins(request))
    with runs.locked(new_jid(now), now, wait=ask.queue, new=True, asked=asked) as jid:
        plan = approved() if approved is not None else None
        if ask.begun is not None:
            ask.begun(jid)
        with _kept(runs, jid, session=session) as recorder:

            def begun(plan: Plan) -> Recorder:
                before = _carried(plan, ask.before) if ask.before else []
                recorder.begin(_head(session, request, jid, ask), plan, _sources(plan), before)
                return recorder

            if plan is not None:
                report = engine.resume(session, plan, tell, jid=jid, journal=begun(plan), request=request)
            else:
                report = engine.apply(session, request, tell, compiled=compiled, jid=jid, journal=begun)
            _end(recorder, report)
            _leave_out(report, recorder.number)
        _leave(runs, report, session.settings)
    runs.prune()
    return report


def apply_failed(settings: Settings, jid: str, tell: Tell | None, ask: Ask) -> Report:
    """What an earlier run was asked for, once more: only what failed of it, or was not reached, and what
    needs that; by the files as they are now. The report tells of nothing else."""
    runs = Runs(settings)
    old = runs.state(jid)
    if not old.has_plan:
        what, fix = f"run {jid} broke before it had a plan", "apply the states again"
        raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))
    session = session_as(settings, old.head)
    request = convert(old.head["request"], engine.Request)
    more = replace(ask, before=old, pillar=ask.pillar or old.head.get("pillar") or {})
    return apply(session, request, tell, more)


def resume(
    settings: Settings,
    jid: str | None,
    tell: Tell | None,
    *,
    onward: Sequence[str] = (),
    ends: Callable[[], bool] | None = None,
) -> Report | None:
    """Go on with a run; the last that can be, if none is named. None: there is nothing to resume.

    One whose report says that the machine reboots waits here until it has, or is found not to; an interrupt,
    or ``ends``, calls the reboot off where that can be done. One that goes on with another build of this
    program replaces this process by that, with the words ``onward``.
    """
    remember()
    runs = Runs(settings)
    chosen = jid or runs.last_resumable()
    if chosen is None:
        return None
    _look_at(runs, chosen, settings)
    with runs.locked(chosen, time.time(), wait=settings.queue_runs):
        state = runs.state(chosen)  # whoever had the lock may have gone on with it
        _check(chosen, state)
        session = session_as(settings, state.head)
        planned = bool(state.open_barriers)
        if planned:
            from saltern.durable.barriers.drive import over

            state = over(runs, chosen, session.settings, onward, ends)
        with _kept(runs, chosen, state, session) as recorder:
            recorder.resumed(_surroundings() | {"at": session.clock.now(), "planned": planned})
            asked = convert(state.head["request"], engine.Request)
            report = engine.resume(
                session, recorder.plan(), tell, jid=chosen, journal=recorder, request=asked
            )
            _end(recorder, report)
        _leave(runs, report, session.settings)
    return report


def _look_at(runs: Runs, jid: str, settings: Settings) -> None:
    """A mistake is reported at once, and not after a wait. A damaged journal is put aside."""
    try:
        runs.state(jid)
    except OperationError:
        if runs.is_damaged(jid):
            with runs.locked(jid, time.time(), wait=settings.queue_runs):
                if runs.is_damaged(jid):
                    runs.put_aside(jid)
        runs.state(jid)


@contextmanager
def _kept(
    runs: Runs, jid: str, past: RunState | None = None, session: Session | None = None
) -> Iterator[Recorder]:
    writer = runs.writer(jid, resumed_at=past.records if past else 0)

    def planner(chunks: Sequence[Chunk], rendered: Sequence[str]) -> Plan:
        assert session is not None
        return make_plan(chunks, rendered, Diagnostics(), aggregates(session, chunks))

    recorder = Recorder(writer, past, planner, session.caller.nature if session else undeclared)
    if past is None:
        keeper.begin(jid, runs.kept_folder(jid))
    else:
        _wait_for_programs(runs, jid)
        keeper.take_up(jid, runs.kept_folder(jid))
    effects.before(recorder.sync)
    try:
        yield recorder
    finally:
        effects.before(None)
        keeper.end(forget=recorder.over)
        writer.close()


def _wait_for_programs(runs: Runs, jid: str) -> None:
    """What a broken run has started goes on without it: what it comes to is this run's to tell."""
    folder = runs.kept_folder(jid)
    if ledger.at_work(folder):
        print(f"saltern: a program of run {jid} is still running: waiting for its end", file=sys.stderr)
        keeper.wait_for(folder)


def _end(recorder: Recorder, report: Report) -> None:
    effects.before(None)  # what is written from here on is the journal's own
    stopped = report.stopped
    if stopped in STOPS.values():
        recorder.pause()
        return
    if stopped == INTERRUPTED:
        stopped = "terminated" if was_terminated() else "interrupted"
    point("end")
    recorder.end(took=report.took, stopped=stopped, failed=failed(report))


def _leave_out(report: Report, first: int) -> None:
    """What an earlier run has done was told by that."""
    report.answers = [one for one in report.answers if one.number >= first]
    report.frames = [one for one in report.frames if one.first >= first]


def _leave(runs: Runs, report: Report, settings: Settings) -> None:
    if report.stopped in STOPS.values():
        from saltern.durable.barriers.drive import leave

        leave(runs, report.jid, report.stopped, settings)


def abandon(settings: Settings, jid: str, why: str) -> str:
    """A run that broke is over: nobody goes on with it. What came of a reboot that was under way, if any."""
    from saltern.durable.barriers.cancel import call_off

    runs = Runs(settings)
    with runs.locked(jid, time.time(), wait=settings.queue_runs):
        said = call_off(runs, jid, settings)
        state = runs.state(jid)
        if state.status in RESUMABLE:
            writer = runs.writer(jid, resumed_at=state.records)
            Recorder(writer, state).end(took=0.0, stopped=why, failed=True)
            writer.close()
            ledger.remove(runs.kept_folder(jid))
    return said


def _check(jid: str, state: RunState) -> None:
    if state.status in RESUMABLE and state.has_plan:
        return
    what, fix = f"run {jid} has {state.status}: nothing is left to do", "`saltern runs` lists all"
    if not state.has_plan:
        what, fix = f"run {jid} broke before it had a plan: nothing was done", "apply the states again"
    raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))


def session_as(settings: Settings, head: Mapping[str, Any]) -> Session:
    """By the configuration that a run had: ``head`` has its ``settings`` and its ``pillar``."""
    from saltern.engine.nested import equipped

    kept = head["settings"]
    known = {name: kept[name] for name in Settings.__struct_fields__ if name in kept}
    return equipped(Settings(**{**asdict(settings), **known}), head.get("pillar") or {})


def _head(session: Session, request: engine.Request, jid: str, ask: Ask) -> dict[str, object]:
    from saltern import __version__

    return {
        "jid": jid,
        "version": __version__,
        "request": to_builtins(request),
        "settings": to_builtins(session.settings, enc_hook=str),
        "pillar": dict(ask.pillar),
        "started": session.clock.now(),
        **_surroundings(),
    }


def _surroundings() -> dict[str, object]:
    return {"boot": reboot.current().identity(), "pid": os.getpid()}


def _carried(plan: Plan, before: RunState) -> list[tuple[str, dict[str, Any]]]:
    from saltern.journal.carry import carried

    return list(carried(plan, before))


def _sources(plan: Plan) -> dict[str, str]:
    """The texts that the states were made of."""
    origins = {chunk.declared.origin.file: chunk.declared.origin for chunk in plan.chunks}
    return {file: str(getattr(origin, "source", "")) for file, origin in origins.items()}


def new_jid(now: float) -> str:
    """The number of a run that begins at this time."""
    whole, part = divmod(now, 1)
    return f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(whole))}{int(part * 1_000_000):06d}"
