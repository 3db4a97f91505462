"""Delayed frames: which targets of a finished caller are rendered, and what replaces the others.

The rule is the table ``FATES``: the result of the caller and ``when`` of the entry decide
whether its target is rendered now. A target that is not rendered gets one answer at its index.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from saltern.language.chunk import Chunk
from saltern.language.delayed import Target
from saltern.language.high import Declaration
from saltern.language.requisites import Standing
from saltern.language.result import Outcome, Result, skipped
from saltern.language.result import blocked as not_run
from saltern.language.source import Mark, Origin, Path
from saltern.runtime.run_shared import Bounds, Used

PLACEHOLDER = "delayed"  # the state type of an answer that stands for a frame


class Came(Enum):
    """The result of a caller."""

    FINE = "changed nothing"
    CHANGED = "changed something"
    FAILED = "failed"
    HELD = "did not run"
    UNKNOWN = "would change"


class Fate(Enum):
    RENDER = "render"
    FAIL = "fail"
    SKIP = "skip"
    DEFER = "defer"


_R, _F, _S, _D = Fate.RENDER, Fate.FAIL, Fate.SKIP, Fate.DEFER

FATES: dict[str, dict[Came, Fate]] = {
    when: dict(zip(Came, fates, strict=True))
    for when, fates in {
        #           FINE CHANGED FAILED HELD UNKNOWN
        "success": (_R, _R, _F, _S, _D),
        "always": (_R, _R, _R, _R, _D),
        "changes": (_S, _R, _F, _S, _D),
        "failure": (_S, _S, _R, _S, _S),
    }.items()
}


def came(result: Result, standing: Standing, *, test: bool) -> Came:
    """The result of a caller; ``standing`` includes its sub states."""
    outcome = standing.outcome
    if outcome is Outcome.FAILED:
        return Came.FAILED
    if outcome is Outcome.WOULD_CHANGE and test and (result.called or not result.ran):
        return Came.UNKNOWN
    if not result.ran or (outcome is Outcome.WOULD_CHANGE and not result.called):
        return Came.HELD
    return Came.CHANGED if standing.changed else Came.FINE


def refusal(target: Target, caller: str, depth: int, used: Used, bounds: Bounds) -> tuple[str, bool]:
    """Why a target may not be rendered again, and whether that also fails the caller."""
    limit = bounds.limit if target.words.limit is None else target.words.limit
    users = used.by.get(target.definition, [])
    if isinstance(limit, int) and len(users) >= limit:
        times = "once" if limit == 1 else f"{limit} times"
        where = target.block.mark if target.block else f"#!delayed_sls in {target.name}"
        who = ", ".join(users[:3]) + (" …" if len(users) > 3 else "")
        return (
            f"not rendered: {target.kind} {target.name!r} may be rendered {times}, and {who} used that up; "
            f"raise delayed_repeat_limit on its tag ({where}), or in the configuration",
            False,
        )
    if depth > bounds.depth:
        return (
            f"not rendered: deeper than delayed_max_depth, {bounds.depth}, at {caller}",
            True,
        )
    if used.frames >= bounds.frames:
        return f"not rendered: this run has rendered delayed_max_frames, {bounds.frames}, already", True
    return "", False


def placeholder(fate: Fate, state: Came, caller: Chunk, result: Result) -> Result:
    """The answer of a target that is not rendered."""
    if fate is Fate.DEFER:
        comment = f"not rendered: known after {caller.id} is applied"
        return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, ran=False, called=False)
    if fate is Fate.FAIL:
        why = "failed" if result.ran else "could not run"
        return not_run(f"not rendered: {caller.id} {why}")
    return skipped(f"not rendered: {caller.id} {state.value}")


class _Entry(Struct, frozen=True):
    """The origin of a placeholder chunk: the entry that names the target."""

    origin: Origin
    path: Path

    @property
    def file(self) -> str:
        return self.origin.file

    def mark(self, _path: Path = ()) -> Mark:
        return self.origin.mark(self.path)


def stand_in(caller: Chunk, target: Target) -> Chunk:
    """The chunk of an answer that stands for a whole frame."""
    declared = Declaration(
        id=target.title,
        state=PLACEHOLDER,
        key=f"{PLACEHOLDER}.{target.kind}",
        items=[],
        ref=caller.declared.ref,
        origin=_Entry(target.origin or caller.declared.origin, target.path),
    )
    return Chunk(
        state=PLACEHOLDER,
        fun=target.kind,
        id=target.title,
        name=target.name,
        order=caller.order,
        args={},
        declared=declared,
    )
