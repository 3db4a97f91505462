"""``prereq``: call a chunk in test mode to see what it would change, before chunks that prepare for it
run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.requisites import Standing, Vote
from saltern.language.result import Outcome
from saltern.runtime.chunk_runner import ChunkRunner
from saltern.runtime.decide import blocked_result, decide
from saltern.runtime.progress import Begun
from saltern.runtime.substates import SubStates, effective
from saltern.system.faults import point

if TYPE_CHECKING:
    from saltern.runtime.replay import Replay


def rehearse(runner: ChunkRunner, index: int, replay: Replay | None) -> None:
    """Record what the chunk would change. A failure here is its final answer."""
    scope, journal, past = runner.scope, runner.scope.shared.journal, runner.scope.shared.past
    if runner.parallel is not None and runner.parallel.busy:
        runner.parallel.settle(index, rehearsal=True)
    known = past.rehearsal(scope.path, index) if past else None
    if known is not None and known.outcome is not Outcome.FAILED:
        scope.answers.rehearsed[index] = known
    elif replay is None or not replay.failed_in_rehearsal(index):
        _foresee(runner, index)
        point("rehearsed")
        if journal:
            journal.rehearsed(scope.path, index, scope.answers.rehearsed[index])


def _foresee(runner: ChunkRunner, index: int) -> None:
    scope, answers, clock = runner.scope, runner.scope.answers, runner.scope.shared.clock
    chunk = scope.plan.chunks[index]
    started, tick = clock.now(), clock.tick()
    verdict = decide(scope.plan, index, answers, rehearsal=True)
    if verdict.vote is Vote.HOLD:
        answers.rehearsed[index] = Standing(Outcome.OK)
        return
    if verdict.vote is Vote.FAIL:
        result = blocked_result(scope.plan, index, verdict, answers)
    else:
        result = scope.executor.execute(chunk, test=True, rehearsal=True, registers=answers.registers)
    reacts = verdict.vote is Vote.SIGNAL and not result.quiet and scope.shared.caller.reacts(chunk.state)
    came = effective(result)
    answers.rehearsed[index] = Standing(came.outcome, came.changed or reacts)
    if came.outcome is Outcome.FAILED:
        begun = Begun(scope.next_number(), started, tick)
        runner.record(index, result, begun, SubStates(scope, chunk, begun.number))
