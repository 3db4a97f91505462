"""End a scope that stopped early: report what was not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language.events import ChunkFinished
from saltern.language.result import Result, failed
from saltern.language.result import blocked as not_run
from saltern.runtime.barriers import PAUSES, STOPS, not_yet
from saltern.runtime.progress import Begun, Progress
from saltern.runtime.scope import Scope

if TYPE_CHECKING:
    from saltern.runtime.replay import Replay

HALFWAY = replace(failed("interrupted while it ran; how far it got is unknown"), extra={"interrupted": True})
NO_PROGRESS = Progress()


def report_unreached(scope: Scope, replay: Replay | None) -> None:
    """Record an answer for each chunk that has none yet, unless an earlier process has its answer."""
    why = PAUSES.get(scope.stopped, "failhard")
    paused = scope.stopped in STOPS.values()
    result = not_yet(scope.stopped) if paused else not_run(f"not run ({why}): {scope.stopped}")
    for step in scope.plan.sequence:
        if step < 0 or scope.answers.of[step] is not None:
            continue
        if replay is None or not replay.was_answered(step):
            _report(scope, step, result)


def _report(scope: Scope, index: int, result: Result) -> None:
    """Report a result; an interrupted chunk keeps its number."""
    progress = scope.progress.pop(index, NO_PROGRESS)
    begun = progress.begun
    reported = progress.waiting or (HALFWAY if begun else result)
    number = begun.number if begun else scope.next_number()
    answer = scope.make_answer(scope.plan.chunks[index], reported, Begun(number, 0.0, 0.0), timed=False)
    scope.answers.record(index, answer)
    if scope.shared.journal and scope.stopped not in PAUSES:
        scope.shared.journal.finished(scope.path, index, answer, reported)
    scope.say(ChunkFinished(answer))
    if answer.chunk.delayed:
        from saltern.runtime.delayed import Delayed

        Delayed(scope, answer, result).report_unreached()
