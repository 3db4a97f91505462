"""Decide what to do with a state whose call was interrupted.

``recovery`` has the rule. A program that has ended meanwhile is not run again: the state is called with its
result. Most other states can simply be called again: they look before they act. A state that cannot
(a command) follows its ``resume`` option; without one it fails, since what it has done is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from saltern.language.chunk import Chunk
from saltern.language.nature import Natures
from saltern.language.requisites import succeeded
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Plan

if TYPE_CHECKING:
    from saltern.runtime.ports import Caller, ResumeQuestion
    from saltern.runtime.recovery import Doubt, Safety, Traces

GUARDS = frozenset({"creates", "unless", "onlyif"})
WAYS = ("rerun", "skip", "fail", "ask")
TAKEN = Result(outcome=Outcome.OK, comment="its programs have ended; their results are used")
PROVEN = Result(
    outcome=Outcome.OK, comment="it was running when the run broke; its probe says that it is done"
)


def is_once(chunk: Chunk, natures: Natures) -> bool:
    """True if calling it twice differs from calling it once."""
    return natures(chunk.state, chunk.fun).repeat == "once" and chunk.words.isdisjoint(GUARDS)


def stands_alone(plan: Plan, natures: Natures) -> Callable[[int], bool]:
    """A predicate for states that a power loss must not take together with others.

    These are states that may not be called twice, react to others, or change what others react to. A state
    that only waits until others have succeeded is called again after them.
    """
    steps = {need.on for needs in plan.needs.values() for need in needs if need.kind.asks_for_change}
    steps.update(listener.to for listener in plan.listeners)
    heard = {index for step in steps for index in plan.behind(step)}

    def alone(index: int) -> bool:
        chunk = plan.chunks[index]
        if index in heard or index in plan.groups or is_once(chunk, natures):
            return True
        if any(need.kind.vote is not succeeded for need in plan.needs.get(index, ())):
            return True
        return bool(chunk.words) and not chunk.words.isdisjoint(("resume", "parallel"))

    return alone


def doubt(chunk: Chunk, traces: Traces, natures: Natures) -> Doubt:
    """What is known of a state that was being called when the run broke."""
    from saltern.runtime.recovery import Doubt

    return Doubt(
        safety=_safety(chunk, natures),
        by_programs=natures(chunk.state, chunk.fun).programs_only,
        tries="retry" in chunk.words,
        traces=traces,
    )


def _safety(chunk: Chunk, natures: Natures) -> Safety:
    """Whether the state can be called again; conditions also count as probes, since they are evaluated
    again.
    """
    from saltern.runtime.recovery import Safety

    if natures(chunk.state, chunk.fun).repeat == "safe":
        return Safety.IDEMPOTENT
    if not chunk.words.isdisjoint(GUARDS) or _probe(chunk):
        return Safety.VERIFIED
    return Safety.ONCE


def recover(
    chunk: Chunk, traces: Traces, caller: Caller, question: ResumeQuestion | None = None
) -> Result | None:
    """The answer of the state; None: call it again; ``TAKEN``: call it with the results of its programs.

    ``question`` is asked about a state with ``resume: ask``; without one, such a state fails.
    """
    from saltern.runtime.recovery import Decision, decide

    decision = decide(doubt(chunk, traces, caller.nature))
    if decision is Decision.TAKE:
        return TAKEN
    if decision is Decision.SPAWN:
        return None
    how = _word(chunk, question)
    if how == "rerun" or (not how and decision is Decision.AGAIN):
        return None
    if not how and decision is Decision.PROBE:
        done = _probe(chunk) and caller.command(_probe(chunk), chunk.args) == 0
        return PROVEN if done else None
    return indeterminate(how or "fail")


def _word(chunk: Chunk, question: ResumeQuestion | None) -> str:
    """The value of its ``resume``; empty if the table of ``recovery`` decides."""
    given = chunk.args.get("resume") if "resume" in chunk.words else None
    if given == "ask":
        return question(chunk) if question is not None else "fail"
    return given if isinstance(given, str) and given in WAYS else ""


def _probe(chunk: Chunk) -> str:
    """The command of ``resume: {probe: COMMAND}``."""
    given = chunk.args.get("resume") if "resume" in chunk.words else None
    found = given.get("probe") if isinstance(given, Mapping) else None
    return found if isinstance(found, str) else ""


def indeterminate(how: str) -> Result:
    """The answer of a state that is not called again."""
    if how == "skip":
        comment = "it was running when the run broke; skipped, as its 'resume: skip' says"
        return Result(outcome=Outcome.OK, comment=comment, ran=False, extra={"indeterminate": True})
    comment = (
        "indeterminate: it was running when the run broke, and what it did is unknown; check it, "
        "then run it again with `saltern apply --failed-from`, or say 'resume: rerun' or 'resume: skip'"
    )
    return Result(outcome=Outcome.FAILED, comment=comment, ran=False, extra={"indeterminate": True})
