"""Runs that survive: journaled while they happen, and taken up again where they broke."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from saltern import engine
from saltern.config.settings import Settings
from saltern.journal.fold import RunState
from saltern.journal.recorder import Recorder
from saltern.journal.runs import RESUMABLE, Runs
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError
from saltern.language.events import Report
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.report.verdict import failed
from saltern.runtime.world import INTERRUPTED
from saltern.stages import aggregates
from saltern.system import effects
from saltern.system.boot import boot_identity
from saltern.system.faults import point
from saltern.system.signals import was_terminated

if TYPE_CHECKING:
    from saltern.runtime.ports import Recorder as Tell
    from saltern.session import Session


class Ask(Struct, frozen=True, kw_only=True):
    """How a run is to be kept. ``queue``: seconds to wait for another run."""

    queue: float = 0.0
    pillar: Mapping[str, object] = {}


def apply(
    session: Session,
    request: engine.Request,
    tell: Tell | None,
    ask: Ask,
    *,
    compiled: Callable[[], None] | None = None,
) -> Report:
    """``engine.apply``, with a journal."""
    runs = Runs(session.settings)
    held = runs.locked(_jid(session), session.clock.now(), wait=ask.queue, new=True)
    with held as jid, _kept(runs, jid) as recorder:

        def begun(plan: Plan) -> Recorder:
            recorder.begin(_head(session, request, jid, ask), plan, _sources(plan))
            return recorder

        report = engine.apply(session, request, tell, compiled=compiled, jid=jid, journal=begun)
        _end(recorder, report)
    runs.prune()
    return report


def resume(settings: Settings, jid: str | None, tell: Tell | None) -> Report | None:
    """Go on with a run; the last that can be, if none is named. None: there is nothing to go on with."""
    runs = Runs(settings)
    chosen = jid or runs.last_resumable()
    if chosen is None:
        return None
    runs.state(chosen)  # a mistake is told at once, and not after a wait
    with runs.locked(chosen, time.time(), wait=settings.queue_runs):
        state = runs.state(chosen)  # whoever had the lock may have gone on with it
        _check(chosen, state)
        session = _session(settings, state)
        with _kept(runs, chosen, state, session) as recorder:
            recorder.resumed({"boot": boot_identity(), "pid": os.getpid(), "at": session.clock.now()})
            report = engine.resume(session, recorder.plan(), tell, jid=chosen, journal=recorder)
            _end(recorder, report)
    return report


@contextmanager
def _kept(
    runs: Runs, jid: str, past: RunState | None = None, session: Session | None = None
) -> Iterator[Recorder]:
    writer = runs.writer(jid, resumed_at=past.records if past else 0)

    def planner(chunks: Sequence[Chunk], rendered: Sequence[str]) -> Plan:
        assert session is not None
        return make_plan(chunks, rendered, Diagnostics(), aggregates(session, chunks))

    recorder = Recorder(writer, past, planner)
    effects.before(recorder.sync)
    try:
        yield recorder
    finally:
        effects.before(None)
        writer.close()


def _end(recorder: Recorder, report: Report) -> None:
    effects.before(None)  # what is written from here on is the journal's own
    stopped = report.stopped
    if stopped == INTERRUPTED:
        stopped = "terminated" if was_terminated() else "interrupted"
    point("end")
    recorder.end(took=report.took, stopped=stopped, failed=failed(report))


def _check(jid: str, state: RunState) -> None:
    if state.status in RESUMABLE and state.has_plan:
        return
    what, fix = f"run {jid} has {state.status}: nothing is left to do", "`saltern runs` lists all"
    if not state.has_plan:
        what, fix = f"run {jid} broke before it had a plan: nothing was done", "apply the states again"
    raise OperationError(Diagnostic(code="run-not-resumable", what=what, fix=fix))


def _session(settings: Settings, state: RunState) -> Session:
    """As the run had it, by the configuration it had."""
    from saltern.inside import equipped

    kept = state.head["settings"]
    known = {name: kept[name] for name in Settings.__struct_fields__ if name in kept}
    return equipped(Settings(**{**asdict(settings), **known}), state.head.get("pillar") or {})


def _head(session: Session, request: engine.Request, jid: str, ask: Ask) -> dict[str, object]:
    from saltern import __version__

    return {
        "jid": jid,
        "version": __version__,
        "request": to_builtins(request),
        "settings": to_builtins(session.settings, enc_hook=str),
        "pillar": dict(ask.pillar),
        "started": session.clock.now(),
        "boot": boot_identity(),
        "pid": os.getpid(),
    }


def _sources(plan: Plan) -> dict[str, str]:
    """The texts that the states were made of."""
    origins = {chunk.declared.origin.file: chunk.declared.origin for chunk in plan.chunks}
    return {file: str(getattr(origin, "source", "")) for file, origin in origins.items()}


def _jid(session: Session) -> str:
    whole, part = divmod(session.clock.now(), 1)
    return f"{time.strftime('%Y%m%d%H%M%S', time.gmtime(whole))}{int(part * 1_000_000):06d}"
