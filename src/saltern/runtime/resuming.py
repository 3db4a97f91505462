"""A state that was being called when the run broke: what becomes of it.

Most states may simply be called again: they look before they act. One that may not (a command) follows
its ``resume`` word; without one it fails, since nobody knows what it has done.
"""

from __future__ import annotations

from saltern.language.chunk import Chunk
from saltern.language.result import Outcome, Result

ONCE = frozenset({"cmd", "module", "event", "exec"})  # state modules whose calls are not safe to repeat
GUARDS = frozenset({"creates", "unless", "onlyif"})
WAYS = ("rerun", "skip", "fail", "ask")


def is_once(chunk: Chunk) -> bool:
    """Whether calling it twice is not the same as calling it once."""
    return chunk.state in ONCE and chunk.words.isdisjoint(GUARDS)


def way(chunk: Chunk) -> str:
    given = chunk.args.get("resume") if "resume" in chunk.words else None
    if isinstance(given, str) and given in WAYS:
        return given
    return "fail" if is_once(chunk) else "rerun"


def indeterminate(how: str) -> Result:
    """The answer of a state that is not called again."""
    if how == "skip":
        comment = "it was running when the run broke; skipped, as its 'resume: skip' says"
        return Result(outcome=Outcome.OK, comment=comment, ran=False, extra={"indeterminate": True})
    comment = (
        "indeterminate: it was running when the run broke, and nobody knows what it did; "
        "look, then run it again with `saltern apply --failed-from`, or say 'resume: rerun' or 'resume: skip'"
    )
    return Result(outcome=Outcome.FAILED, comment=comment, ran=False, extra={"indeterminate": True})
