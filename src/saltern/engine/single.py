"""Run one state without a file, for ``saltern single`` and ``state.single``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.compiler.lower import lower
from saltern.compiler.options import check_options
from saltern.compiler.parse import words_in
from saltern.engine.options import run_options
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.targets import set_environment
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Report
from saltern.language.high import Declaration
from saltern.language.requisites import REQUISITE_WORDS
from saltern.language.source import NoFile, SlsRef
from saltern.modules.api.check import check as check_arguments
from saltern.plan.make import make_plan
from saltern.runtime.loop import run


def single(
    session: Session, function: str, name: str, args: Mapping[str, object], saltenv: str | None = None
) -> Report:
    """Run one state with any options that a file could give it; requisites are reported and ignored."""
    session.load_pillar()
    found = Diagnostics()
    _warn_of_requisites(args, found)
    named = saltenv or args.get("saltenv")  # as in Salt, also among the arguments of the state
    env = set_environment(session, Request(saltenv=str(named) if named else None)) or "base"
    chunks = _chunks(function, name, args, env, found)
    is_known = session.registry.state(*function.split(".", 1)) is not None if "." in function else False
    strict = session.settings.strict or not is_known
    check_arguments(chunks, session.registry, found, strict=strict, files=session.tree)
    found.check()
    plan = make_plan(chunks, [], found)
    report = run(plan, caller=session.caller, clock=session.clock, options=run_options(session))
    report.warnings = [*session.warnings, *found.warnings]
    return report


def _warn_of_requisites(args: Mapping[str, object], found: Diagnostics) -> None:
    """Warn about requisites: a single state has no others to wait for."""
    if given := [name for name in args if name in REQUISITE_WORDS]:
        found.warn(
            "single-requisite",
            f"{', '.join(given)}: a single state has no requisites; ignored, as in Salt",
            fix="leave them out, or put the states into an SLS file",
        )


def _chunks(
    function: str, name: str, args: Mapping[str, object], env: str, found: Diagnostics
) -> list[Chunk]:
    """The chunks of a state from the command line: one for each of its ``names``."""
    state, _, fun = function.partition(".")
    items: list[object] = [*({key: value} for key, value in args.items()), fun]
    declared = Declaration(
        id=name,
        state=state,
        key=function,
        items=items,
        ref=SlsRef(env, ""),
        origin=NoFile(function),
        order=0,
        words=words_in(items),
    )
    chunks = lower([declared], [], found)
    check_options(chunks, found)
    found.check()
    return [replace(chunk, requisites=()) for chunk in chunks]
