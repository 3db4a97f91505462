"""Barriers: a state asks that the machine reboots or this program is replaced, before the run continues.

A state asks by a word in its return: ``reboot: after`` (or true) is done and wants the next state to run
in a new boot; ``reboot: again`` wants to be called again there. What it asked for is on disk before
anything goes down, and the state has no answer until the other side is reached and proven.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.language.barriers import Barrier, Crossing
from saltern.language.result import Outcome, Result

INTERRUPTED = "the run was interrupted"
REBOOTING = "the machine reboots; the run continues afterwards"
UPDATING = "saltern is replaced by another build; the run continues with that"
STOPS: Mapping[str, str] = {"reboot": REBOOTING, "update": UPDATING}  # kind → why the process ends
PAUSES: Mapping[str, str] = {INTERRUPTED: "interrupted", REBOOTING: "reboot", UPDATING: "update"}
WHEN: Mapping[object, str] = {True: "after", "after": "after", "again": "again"}
MOST = 5  # times that one state may ask to be called again


def asked(result: Result) -> Barrier | None:
    """What a return asks for; a failure asks for nothing."""
    if result.outcome is Outcome.FAILED:
        return None
    for kind in STOPS:
        said = result.extra.get(kind)
        details: Mapping[object, object] = said if isinstance(said, Mapping) else {"when": said}
        word = details.get("when")
        if isinstance(word, str | bool) and word in WHEN:
            ask = {str(key): value for key, value in details.items() if key != "when"}
            return Barrier(kind=kind, when=WHEN[word], ask=ask)
    return None


def refused(result: Result, barrier: Barrier, why: str) -> Result:
    """The answer of a state whose barrier is not granted."""
    if barrier.when == "again":
        why_not = f"it asked for a {barrier.kind}, and to be called again after it: {why}"
        return Result(outcome=Outcome.FAILED, comment=why_not, data=result.data)
    why_not = f"the {barrier.kind} that it asks for was not done: {why}"
    return replace(result, warnings=(*result.warnings, why_not))


def landed(result: Result, crossing: Crossing) -> Result:
    """The answer of a state that was done before the barrier."""
    if not crossing.why:
        return result
    comment = "\n".join(part for part in (result.comment, crossing.why) if part)
    return replace(result, outcome=Outcome.FAILED, comment=comment)


def waiting(result: Result, barrier: Barrier) -> Result:
    """What a report says that is made before the other side is reached."""
    comment = "\n".join(part for part in (result.comment, f"not done yet: {STOPS[barrier.kind]}") if part)
    return replace(result, outcome=Outcome.WOULD_CHANGE, comment=comment)


def not_yet(stopped: str) -> Result:
    """The same, of states that come after it."""
    return Result(outcome=Outcome.WOULD_CHANGE, ran=False, comment=f"not run yet: {stopped}")
