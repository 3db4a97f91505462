"""Show the stages of a request: files, high data, low data, the order, the plan. Nothing is run."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.compiler.compile import CompilerOptions, compile_high, shape
from saltern.compiler.exclude import warn_of_unused
from saltern.compiler.gather import expand
from saltern.compiler.shapes import high_data
from saltern.engine.build_plan import build_plan
from saltern.engine.delays import Delays
from saltern.engine.options import bounds, compiler_options
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show_blocks import show_blocks
from saltern.engine.targets import assigned_sls, targets
from saltern.language.chunk import Chunk
from saltern.language.delayed import Target
from saltern.language.diagnostics import Diagnostics
from saltern.language.hidden import shown_chunk, shown_chunks
from saltern.plan.in_patterns import spell_out
from saltern.plan.plan import Plan
from saltern.plan.reasons import reason


def show_high(session: Session, request: Request, found: Diagnostics) -> dict[str, object]:
    """High data in Salt's shape, extend and exclude still separate. Data that does not compile is left
    out.
    """
    session.load_pillar()
    refs, loader = targets(session, request, found)
    options = compiler_options(session, request)
    high = compile_high(refs, loader, options, found)
    shape(high, options, found)
    return high_data(high)


def show_low(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """Low data in Salt's shape, sorted. Unknown targets and cycles are errors."""
    plan = show_plan(session, request, found)
    low = [chunk.low() for chunk in shown_chunks(plan.chunks)]
    spell_out(low, plan.chunks, plan.rendered)
    for index, steps in plan.preparers.items():
        owners = [plan.chunks[owner] for step in steps for owner in plan.behind(step)]
        low[index]["prerequired"] = [{owner.state: owner.label} for owner in owners]
    for entry, chunk in zip(low, plan.chunks, strict=True):
        if chunk.delayed:
            entry["__delayed__"] = [f"{one.kind} {one.name} ({one.place()})" for one in chunk.delayed]
    return low


def show_order(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """The actual sequence of states, with the reason for each position."""
    plan = show_plan(session, request, found)
    rows: list[dict[str, object]] = []
    for position, step in enumerate((one for one in plan.sequence if one >= 0), 1):
        chunk = shown_chunk(plan.chunks[step])
        rows.append(
            {
                "position": position,
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
    """The row of a delayed frame."""
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
    """The plan, to draw or to explain it."""
    session.load_pillar()
    refs, loader = targets(session, request, found)
    delays = Delays(bounds(session).limit)
    options = compiler_options(session, request)
    plan = build_plan(session, refs, loader, options, found, delays=delays, checks=False)
    if not delays.wanted:
        warn_of_unused(options.exclude, options.used, plan.chunks, found)
    return plan


def show_top(session: Session, request: Request, found: Diagnostics) -> dict[str, list[str]]:
    """The names of the SLS files that the top files assign to this machine, by environment."""
    session.load_pillar()
    given = assigned_sls(session, request, found)
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

    With ``block``, the text of a delayed block as rendered after the return ``prev_ret`` and
    with the ``context`` of an entry.
    """
    session.load_pillar()
    refs, loader = targets(session, request, found)
    texts: dict[str, str] = {}
    named = [one for given in refs for one in expand(given, loader.names)]
    if block is not None:
        return show_blocks(session, named, block, found, prev_ret=prev_ret, context=context or {})
    for ref in named:
        source = session.tree.read(ref)
        if source is None:
            compile_high([ref], loader, CompilerOptions(), found)  # reports missing files
        else:
            texts[ref.name] = session.renderers.rendered_text(source)
    return texts
