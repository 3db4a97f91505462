"""The spine: one function for each thing a user asks for, every stage named in its order.

Read ``apply`` from top to bottom and you have read
the way of the data: files → High → chunks → plan → answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from saltern.compiler.compile import Rules as CompileRules
from saltern.compiler.compile import compile_high, shape
from saltern.compiler.exclude import tell_unused
from saltern.compiler.gather import expand
from saltern.engine.planning import Delays, TemplateLoader, TreeLoader, planned
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.delayed import UNLIMITED, Target
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError, did_you_mean
from saltern.language.events import Answer, Report
from saltern.language.hidden import shown, shown_chunks
from saltern.language.high import Declaration, Exclusion
from saltern.language.requisites import REQUISITE_WORDS
from saltern.language.result import failed
from saltern.language.source import Mark, Path, SlsRef
from saltern.modules.api.check import check as check_arguments
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.runtime.loop import run
from saltern.runtime.run_shared import Bounds
from saltern.runtime.run_shared import Rules as RunRules

if TYPE_CHECKING:
    from saltern.runtime.ports import FrameMaker, Journal, Recorder
    from saltern.targeting.top import Assigned

NO_TOP = "no top file gives this machine any state: check top.sls in the file roots, or name an SLS"


class Request(Struct, frozen=True, kw_only=True):
    """What a user asks to be applied or shown. No SLS and no template is the highstate."""

    sls: tuple[str, ...] = ()
    saltenv: str | None = None
    exclude: tuple[object, ...] = ()
    template: str | None = None
    id: str | None = None


# -- what a user asks for -------------------------------------------------------------------------


def apply(
    session: Session,
    request: Request,
    tell: Recorder | None = None,
    *,
    compiled: Callable[[], None] | None = None,
    journal: Callable[[Plan], Journal | None] | None = None,
    jid: str = "",
) -> Report:
    """Bring this machine to the state that the SLS files describe.

    ``compiled`` is called between compiling and running; ``journal`` is shown the plan, and gives
    whoever writes down what is done, if anybody does.
    """
    found = Diagnostics()
    rules = compile_rules(session, request)
    session.prepare()
    refs, loader = targets(session, request, found)
    if not refs and not request.sls:
        return _no_states([*session.warnings, *found.warnings])
    delays = Delays(bounds(session).limit)
    plan = planned(session, refs, loader, rules, found, delays=delays)
    if not delays.wanted:
        tell_unused(rules.exclude, rules.used, plan.chunks, found)
    if request.id is not None:
        plan = _only(plan, request.id, delays)
    session.run.chunks = plan.chunks
    if compiled is not None:
        compiled()
    session.run.outbox.listen(tell)
    report = run(
        plan,
        caller=session.caller,
        clock=session.clock,
        rules=_run_rules(session),
        tell=session.telling(tell),
        frames=_frames(session, rules, delays),
        journal=journal(plan) if journal is not None else None,
        jid=jid,
    )
    if delays.wanted:
        tell_unused(rules.exclude, rules.used, plan.chunks, found)
    report.warnings = [*session.warnings, *found.warnings, *delays.warnings]
    report.unused = delays.unused()
    return report


def resume(
    session: Session,
    plan: Plan,
    tell: Recorder | None,
    *,
    jid: str,
    journal: Journal,
    request: Request,
) -> Report:
    """Run a plan that was made before: that of a run that broke, and the journal knows what is done of it, or
    one that a person has approved. ``request`` is what it was made for."""
    session.prepare()
    session.run.chunks = plan.chunks
    session.run.outbox.listen(tell)
    delays = Delays(bounds(session).limit, wanted=True)
    return run(
        plan,
        caller=session.caller,
        clock=session.clock,
        rules=_run_rules(session),
        tell=session.telling(tell),
        frames=_frames(session, compile_rules(session, request), delays),
        journal=journal,
        jid=jid,
    )


def show_high(session: Session, request: Request, found: Diagnostics) -> dict[str, object]:
    """High data in Salt's shape, extend and exclude still apart. What does not compile is not shown."""
    session.prepare()
    refs, loader = targets(session, request, found)
    rules = compile_rules(session, request)
    high = compile_high(refs, loader, rules, found)
    shape(high, rules, found)
    from saltern.compiler.shapes import high_data

    return high_data(high)


def show_low(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """Low data in Salt's shape, sorted. Unknown targets and cycles are errors here, too."""
    plan = _planned(session, request, found)
    low = [chunk.low() for chunk in shown_chunks(plan.chunks)]
    for place, owners in plan.preparers.items():
        low[place]["prerequired"] = [{plan.chunks[owner].state: plan.chunks[owner].label} for owner in owners]
    for entry, chunk in zip(low, plan.chunks, strict=True):
        if chunk.delayed:
            entry["__delayed__"] = [f"{one.kind} {one.name} ({one.place()})" for one in chunk.delayed]
    return low


def show_order(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """The sequence that will really run, with the reason for each position."""
    from saltern.plan.reasons import reason

    plan = _planned(session, request, found)
    rows: list[dict[str, object]] = []
    for place, step in enumerate((one for one in plan.sequence if one >= 0), 1):
        chunk = shown(plan.chunks[step])
        rows.append(
            {
                "position": place,
                "state": chunk.function,
                "id": chunk.id,
                "name": chunk.name,
                "order": chunk.order,
                "reason": reason(plan, step),
                "where": str(chunk.mark()),
            }
        )
        rows += [_frame_row(chunk, target) for target in chunk.delayed]
    return rows


def _frame_row(caller: Chunk, target: Target) -> dict[str, object]:
    """Where a delayed frame will run."""
    unless = "" if target.when == "success" else f", when: {target.when}"
    return {
        "position": None,
        "state": f"delayed.{target.kind}",
        "id": target.name,
        "name": target.name,
        "order": caller.order,
        "reason": f"rendered right after {caller.label!r}{unless}",
        "where": str(target.place()),
    }


def show_plan(session: Session, request: Request, found: Diagnostics) -> Plan:
    """The plan itself, for whoever draws or explains it. Nothing is run."""
    return _planned(session, request, found)


def show_top(session: Session, request: Request, found: Diagnostics) -> dict[str, list[str]]:
    session.prepare()
    given = _assigned(session, request, found)
    return {env: [one.sls for one in some] for env, some in given.items()}


def show_rendered(
    session: Session,
    request: Request,
    found: Diagnostics,
    *,
    block: str | None = None,
    prev_ret: object = None,
    context: Mapping[str, object] | None = None,
) -> dict[str, str]:
    """The text of each file after its template ran, before YAML reads it.

    With ``block``, that of a delayed block, as it would be rendered after the return ``prev_ret`` and
    with the ``context`` of an entry.
    """
    session.prepare()
    refs, loader = targets(session, request, found)
    texts: dict[str, str] = {}
    named = [one for given in refs for one in expand(given, loader.names)]
    if block is not None:
        from saltern.engine.frames import show_blocks

        return show_blocks(session, named, block, found, prev_ret=prev_ret, context=context or {})
    for ref in named:
        source = session.tree.read(ref)
        if source is None:
            compile_high([ref], loader, CompileRules(), found)  # tells what is missing
        else:
            texts[ref.name] = session.renderers.shown(source)
    return texts


def single(
    session: Session, function: str, name: str, args: Mapping[str, object], saltenv: str | None = None
) -> Report:
    """One state, without any file, with all that a file may give it; requisites are reported, and ignored."""
    session.prepare()
    found = Diagnostics()
    _without_targets(args, found)
    chunks = _typed_chunks(function, name, args, _env(session, Request(saltenv=saltenv)) or "base", found)
    check_arguments(chunks, session.registry, found, strict=True, files=session.tree)
    found.check()
    plan = make_plan(chunks, [], found)
    report = run(plan, caller=session.caller, clock=session.clock, rules=_run_rules(session))
    report.warnings = [*session.warnings, *found.warnings]
    return report


def _without_targets(args: Mapping[str, object], found: Diagnostics) -> None:
    """One state alone has no other to wait for, and none that could wait for it."""
    if given := [name for name in args if name in REQUISITE_WORDS]:
        found.warn(
            "single-requisite",
            f"{', '.join(given)}: a state that is applied alone has no requisites; ignored, as in Salt",
            fix="leave it out, or write the states into an SLS file and apply that",
        )


# -- pieces ------------------------------------------------------------------------------------------


def _typed_chunks(
    function: str, name: str, args: Mapping[str, object], env: str, found: Diagnostics
) -> list[Chunk]:
    from saltern.compiler.lower import lower
    from saltern.compiler.options import check_options
    from saltern.compiler.parse import words_in

    state, _, fun = function.partition(".")
    items: list[object] = [*({key: value} for key, value in args.items()), fun]
    declared = Declaration(
        id=name,
        state=state,
        key=function,
        items=items,
        ref=SlsRef(env, ""),
        origin=_CommandLine(function),
        order=0,
        words=words_in(items),
    )
    chunks = lower([declared], [], found)
    check_options(chunks, found)
    found.check()
    return [replace(chunk, requisites=()) for chunk in chunks]


class _CommandLine:
    """Where a state comes from that was typed by hand."""

    def __init__(self, text: str) -> None:
        self.file = f"<{text}>"

    def mark(self, _path: Path = ()) -> Mark:
        return Mark(self.file)


def targets(session: Session, request: Request, found: Diagnostics) -> tuple[Sequence[SlsRef], TreeLoader]:
    """The files asked for, or those of the top file."""
    session.check_roots(needed=not request.template)
    env = _env(session, request) or "base"
    if request.template:
        template = TemplateLoader(session, request.template, env)
        return [template.ref], template
    if request.sls:
        return [SlsRef(env, name) for name in request.sls], TreeLoader(session)
    given = [one for some in _assigned(session, request, found).values() for one in some]
    loader = TreeLoader(session)
    loader.asked = {SlsRef(one.env, one.sls): one for one in given}
    return [SlsRef(one.env, one.sls) for one in given], loader


def _env(session: Session, request: Request) -> str | None:
    """The one environment asked for, if any; ``lock_saltenv`` forbids another than the configured one."""
    usual = session.settings.saltenv
    if session.settings.lock_saltenv and request.saltenv not in (None, usual):
        raise OperationError(
            Diagnostic(
                code="saltenv-locked",
                what=f"the saltenv {request.saltenv!r} is not allowed here: lock_saltenv is set",
                fix=f"leave --saltenv out; the configured one is {usual or 'base'!r}",
            )
        )
    return request.saltenv or usual


def _assigned(session: Session, request: Request, found: Diagnostics) -> dict[str, list[Assigned]]:
    only = _env(session, request)
    envs = [only] if only else session.environments()
    reads = only or session.settings.state_top_saltenv
    reader = session.tops(session.tree, session.renderers, only_env=reads)
    given = session.with_master_tops(reader.assigned(session.subject(), envs, found, only=only), found)
    found.check()
    return given


def compile_rules(session: Session, request: Request) -> CompileRules:
    from saltern.compiler.parse import exclusion

    rules: list[Exclusion] = []
    for item in request.exclude:
        rule = exclusion(item)
        if rule is None:
            what = f"--exclude {item!r} is neither the name of an SLS nor id: NAME"
            raise OperationError(Diagnostic(code="exclude-shape", what=what))
        rules.append(rule)
    return CompileRules(
        auto_order=session.settings.state_auto_order,
        disabled_requisites=frozenset(session.settings.disabled_requisites),
        exclude=tuple(rules),
        strict=session.settings.strict,
    )


def _planned(session: Session, request: Request, found: Diagnostics) -> Plan:
    session.prepare()
    refs, loader = targets(session, request, found)
    delays = Delays(bounds(session).limit)
    rules = compile_rules(session, request)
    plan = planned(session, refs, loader, rules, found, delays=delays, checks=False)
    if not delays.wanted:
        tell_unused(rules.exclude, rules.used, plan.chunks, found)
    return plan


def _run_rules(session: Session) -> RunRules:
    settings = session.settings
    return RunRules(
        test=settings.test,
        failhard=settings.failhard,
        max_parallel=settings.state_max_parallel,
        events=settings.state_events,
        allowed=_allowed(session) if settings.global_state_conditions else None,
        disabled=_disabled(session.grains.get("state_runs_disabled")),
        bounds=bounds(session),
    )


def _frames(session: Session, rules: CompileRules, delays: Delays) -> FrameMaker | None:
    if not delays.wanted:
        return None
    from saltern.engine.frames import Frames

    return Frames(session, rules, delays)


def bounds(session: Session) -> Bounds:
    """How much may be rendered late."""
    settings = session.settings
    limit = settings.delayed_repeat_limit
    return Bounds(
        limit=UNLIMITED if limit is None else limit,
        depth=settings.delayed_max_depth,
        frames=settings.delayed_max_frames,
    )


def _allowed(session: Session) -> Callable[[Chunk], bool]:
    """``global_state_conditions``: a function is called only where one of its targets matches."""
    from saltern.targeting.match import matches

    conditions = session.settings.global_state_conditions

    def allowed(chunk: Chunk) -> bool:
        wanted: list[object] = []
        for key in ("*", chunk.state, chunk.function):
            given = conditions.get(key)
            wanted += given if isinstance(given, list) else [given] if given else []
        return not wanted or any(matches(session.subject(), str(target)) for target in wanted)

    return allowed


def _disabled(patterns: object) -> Callable[[Chunk], bool] | None:
    if not isinstance(patterns, list) or not patterns:
        return None
    from fnmatch import fnmatchcase

    return lambda chunk: any(fnmatchcase(chunk.function, str(pattern)) for pattern in patterns)


def _only(plan: Plan, id_: str, delays: Delays) -> Plan:
    """The chunks with this ID and whatever they need."""
    from saltern.plan.subset import subset

    places = [place for place, chunk in enumerate(plan.chunks) if chunk.id == id_]
    if not places:
        inside = delays.inside(id_, "which runs after the state that calls it: ask for that one")
        raise OperationError(
            Diagnostic(
                code="id-unknown",
                what=f"no state of this run has the ID {id_!r}",
                fix=inside or did_you_mean(id_, {chunk.label for chunk in plan.chunks}),
            )
        )
    return subset(plan, places)


def _no_states(warnings: list[Diagnostic]) -> Report:
    """Salt's own way of saying that no top file matched: one failed result."""
    declared = Declaration(
        id="states",
        state="no",
        key="states",
        items=[],
        ref=SlsRef("base", ""),
        origin=_CommandLine("top.sls"),
    )
    chunk = Chunk(state="no", fun="None", id="states", name="states", order=0, args={}, declared=declared)
    answer = Answer(chunk=chunk, result=failed(NO_TOP), number=0, timed=False)
    return Report(answers=[answer], warnings=warnings)
