"""Barriers: a state requests a reboot, or a new build of this program, before the run continues.

A state asks with a key in its return: ``reboot: after`` (or true) means that it is done and the next state
must run in a new boot; ``reboot: again`` means that it must be called again there. The request is on disk
before anything shuts down, and the state has no answer until the other side is reached and proven.
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
MOST = 5  # how often one state may ask to be called again


def requested_barrier(result: Result) -> Barrier | None:
    """The barrier that a return requests; a failure requests none."""
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


def refused_result(result: Result, barrier: Barrier, why: str) -> Result:
    """The answer of a state whose barrier is refused."""
    if barrier.when == "again":
        why_not = f"it asked for a {barrier.kind}, and to be called again afterwards: {why}"
        return Result(outcome=Outcome.FAILED, comment=why_not, data=result.data)
    why_not = f"the {barrier.kind} that it asked for was not done: {why}"
    return replace(result, warnings=(*result.warnings, why_not))


def crossed_result(result: Result, crossing: Crossing) -> Result:
    """The answer of a state that was done before the barrier."""
    if not crossing.why:
        return result
    comment = "\n".join(part for part in (result.comment, crossing.why) if part)
    return replace(result, outcome=Outcome.FAILED, comment=comment)


def waiting_result(result: Result, barrier: Barrier) -> Result:
    """The preliminary result of a state before the other side is reached."""
    comment = "\n".join(part for part in (result.comment, f"not done yet: {STOPS[barrier.kind]}") if part)
    return replace(result, outcome=Outcome.WOULD_CHANGE, comment=comment)


def not_yet(stopped: str) -> Result:
    """The preliminary result of the states after it."""
    return Result(outcome=Outcome.WOULD_CHANGE, ran=False, comment=f"not run yet: {stopped}")
