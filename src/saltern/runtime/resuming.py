"""A state that was being called when the run broke: what becomes of it.

Most states may simply be called again: they look before they act. One that may not (a command) follows
its ``resume`` word; without one it fails, since nobody knows what it has done.
"""

from __future__ import annotations

import sys

from saltern.language.chunk import Chunk
from saltern.language.result import Outcome, Result

ONCE = frozenset({"cmd", "module", "event", "exec"})  # state modules whose calls are not safe to repeat
GUARDS = frozenset({"creates", "unless", "onlyif"})
WAYS = ("rerun", "skip", "fail", "ask")


def is_once(chunk: Chunk) -> bool:
    """Whether calling it twice is not the same as calling it once."""
    return chunk.state in ONCE and chunk.words.isdisjoint(GUARDS)


def way(chunk: Chunk) -> str:
    """What is to be done with it: ``rerun``, ``skip`` or ``fail``."""
    given = chunk.args.get("resume") if "resume" in chunk.words else None
    if given == "ask":
        return _asked(chunk)
    if isinstance(given, str) and given in WAYS:
        return given
    return "fail" if is_once(chunk) else "rerun"


def _asked(chunk: Chunk) -> str:
    """By whoever sits at the terminal; ``fail`` if nobody does."""
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return "fail"
    what = f"{chunk.function} {chunk.id!a} was running when the run broke"
    while True:
        print(f"saltern: {what}: rerun, skip or fail? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        found = [one for one in WAYS[:3] if line.strip() and one.startswith(line.strip().lower())]
        if found or not line:
            return found[0] if found else "fail"


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
