"""The settings of a session as options of the compiler and the runtime."""

from __future__ import annotations

from collections.abc import Callable

from saltern.compiler.compile import CompilerOptions
from saltern.compiler.parse import exclusion
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.delayed import UNLIMITED
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.high import Exclusion
from saltern.runtime.run_shared import Bounds, RunOptions


def compiler_options(session: Session, request: Request) -> CompilerOptions:
    """The options of the compiler; raises if an exclusion of the request cannot be read."""
    return CompilerOptions(
        auto_order=session.settings.state_auto_order,
        disabled_requisites=frozenset(session.settings.disabled_requisites),
        exclude=tuple(_exclusion(item) for item in request.exclude),
        strict=session.settings.strict,
    )


def _exclusion(item: object) -> Exclusion:
    rule = exclusion(item)
    if rule is None:
        what = f"--exclude {item!r} is neither an SLS name nor id: NAME"
        raise OperationError(Diagnostic(code="exclude-shape", what=what))
    return rule


def run_options(session: Session) -> RunOptions:
    """The options of the runtime."""
    settings = session.settings
    return RunOptions(
        test=settings.test,
        failhard=settings.failhard,
        max_parallel=settings.state_max_parallel,
        events=settings.state_events,
        allowed=_global_condition(session) if settings.global_state_conditions else None,
        disabled=_disabled_condition(session.grains.get("state_runs_disabled")),
        bounds=bounds(session),
        resume_question=session.resume_question,
    )


def bounds(session: Session) -> Bounds:
    """The limits of delayed rendering."""
    settings = session.settings
    limit = settings.delayed_repeat_limit
    return Bounds(
        limit=UNLIMITED if limit is None else limit,
        depth=settings.delayed_max_depth,
        frames=settings.delayed_max_frames,
    )


def _global_condition(session: Session) -> Callable[[Chunk], bool]:
    """``global_state_conditions``: True for a chunk if one of the targets of its function matches."""
    from saltern.targeting.match import matches

    conditions = session.settings.global_state_conditions

    def allowed(chunk: Chunk) -> bool:
        wanted: list[object] = []
        for key in ("*", chunk.state, chunk.function):
            given = conditions.get(key)
            wanted += given if isinstance(given, list) else [given] if given else []
        return not wanted or any(matches(session.subject(), str(target)) for target in wanted)

    return allowed


def _disabled_condition(patterns: object) -> Callable[[Chunk], bool] | None:
    """``state.disable``: True for a chunk whose function one of the patterns matches."""
    if not isinstance(patterns, list) or not patterns:
        return None
    from fnmatch import fnmatchcase

    return lambda chunk: any(fnmatchcase(chunk.function, str(pattern)) for pattern in patterns)
