"""``prepare`` compiles a request, ``execute`` runs what was prepared; both name every stage in order.

Read ``prepare`` and ``execute`` from top to bottom to follow the data:
files → High → chunks → plan → answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.compiler.compile import CompilerOptions
from saltern.config.settings import commits_of
from saltern.engine.build_plan import build_plan
from saltern.engine.delays import Delays
from saltern.engine.options import bounds, compiler_options, run_options
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.targets import set_environment, targets
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError, did_you_mean
from saltern.language.events import Answer, Report
from saltern.language.high import Declaration
from saltern.language.result import failed
from saltern.language.source import NoFile, SlsRef
from saltern.plan.plan import Plan
from saltern.runtime.loop import run

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink, FrameMaker, Journal

NO_TOP = "no top file gives this machine any state: check top.sls in the file roots, or name an SLS"


class Prepared(Struct, frozen=True, kw_only=True):
    """A run that is compiled completely and has not begun.

    ``plan`` is None if no top file gives this machine any state. ``found`` has the warnings of the compiler;
    None for a plan that was compiled before, by a process that has reported them.
    """

    session: Session
    request: Request
    plan: Plan | None
    options: CompilerOptions
    delays: Delays
    found: Diagnostics | None = None

    @property
    def warnings(self) -> list[Diagnostic]:
        """All warnings so far, including those of frames."""
        found = self.found.warnings if self.found is not None else []
        rendered = self.session.renderers.warnings
        return [*self.session.warnings, *found, *rendered, *self.delays.warnings]


def prepare(session: Session, request: Request) -> Prepared:
    """Compile what is requested. Raises ``CompileError`` if any file is wrong. Changes nothing."""
    found = Diagnostics()
    options = compiler_options(session, request)
    session.load_pillar()
    refs, loader = targets(session, request, found)
    delays = Delays(bounds(session).limit)
    plan: Plan | None = None
    if refs or request.sls:
        plan = build_plan(session, refs, loader, options, found, delays=delays)
        if not delays.wanted:
            _warn_of_unused(options, plan, found)
        if request.id is not None:
            plan = _select_id(plan, request.id, delays)
    return Prepared(session=session, request=request, plan=plan, options=options, delays=delays, found=found)


def prepare_plan(session: Session, request: Request, plan: Plan) -> Prepared:
    """Prepare an existing plan: that of a broken run, or one that a person has approved.

    ``request`` is the request that it was made for.
    """
    session.load_pillar()
    set_environment(session, request)
    return Prepared(
        session=session,
        request=request,
        plan=plan,
        options=compiler_options(session, request),
        delays=Delays(bounds(session).limit, wanted=True),
    )


def execute(
    prepared: Prepared, journal: Journal | None = None, *, on_event: EventSink | None = None, jid: str = ""
) -> Report:
    """Run what was prepared. ``journal`` records the run, and knows what an earlier process has done;
    ``on_event`` is called with every event; ``jid`` is the number of the run."""
    session, plan, delays = prepared.session, prepared.plan, prepared.delays
    if plan is None:
        return _no_states(prepared.warnings)
    session.run.chunks = plan.chunks
    session.run.outbox.listen(on_event)
    on_event = _with_fleet(session, on_event, jid)
    report = run(
        plan,
        caller=session.caller,
        clock=session.clock,
        options=run_options(session),
        on_event=session.with_log(on_event),
        frames=_frame_compiler(prepared),
        journal=journal,
        jid=jid,
    )
    report.sources = commits_of(session.settings.extra)
    if prepared.found is not None:
        if delays.wanted:
            _warn_of_unused(prepared.options, plan, prepared.found)
        report.warnings = prepared.warnings
        report.unused = delays.unused_blocks()
    return report


def _warn_of_unused(options: CompilerOptions, plan: Plan, found: Diagnostics) -> None:
    """Warn about exclusions of the command line that match nothing."""
    if options.exclude:
        from saltern.compiler.exclude import warn_of_unused

        warn_of_unused(options.exclude, options.used, plan.chunks, found)


def _with_fleet(session: Session, on_event: EventSink | None, jid: str) -> EventSink | None:
    """The event sink; on a machine of a fleet it also reports states to the controllers."""
    if not session.run.agent.is_there:
        return on_event
    from saltern.engine.state_events import StateEvents

    settings = session.settings
    return StateEvents(session.run.agent, settings.id, jid, every=settings.state_events, then=on_event)


def apply(session: Session, request: Request, on_event: EventSink | None = None) -> Report:
    """Apply a request on this machine, without a journal."""
    return execute(prepare(session, request), on_event=on_event)


def _frame_compiler(prepared: Prepared) -> FrameMaker | None:
    """The compiler of frames; None if no state delays anything, so that its code is not imported."""
    if not prepared.delays.wanted:
        return None
    from saltern.engine.frames import FrameCompiler

    return FrameCompiler(prepared.session, prepared.options, prepared.delays)


def _select_id(plan: Plan, id_: str, delays: Delays) -> Plan:
    """The plan of the chunks with this ID and of the chunks that they need."""
    from saltern.plan.subset import subset

    indexes = [index for index, chunk in enumerate(plan.chunks) if chunk.id == id_]
    if not indexes:
        inside = delays.inside(id_, "which runs after the state that calls it: name that state")
        raise OperationError(
            Diagnostic(
                code="id-unknown",
                what=f"no state of this run has the ID {id_!r}",
                fix=inside or did_you_mean(id_, {chunk.label for chunk in plan.chunks}),
            )
        )
    return subset(plan, indexes)


def _no_states(warnings: list[Diagnostic]) -> Report:
    """A report with one failed result, as Salt reports that no top file matched."""
    declared = Declaration(
        id="states",
        state="no",
        key="states",
        items=[],
        ref=SlsRef("base", ""),
        origin=NoFile("top.sls"),
    )
    chunk = Chunk(state="no", fun="None", id="states", name="states", order=0, args={}, declared=declared)
    answer = Answer(chunk=chunk, result=failed(NO_TOP), number=0, timed=False)
    return Report(answers=[answer], warnings=warnings)
