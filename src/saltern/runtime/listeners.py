"""``listen``: at the end of a scope, each listener reacts once if anything that it listens to has changed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import Answer, ChunkFinished, ChunkStarted
from saltern.language.hidden import shown_result
from saltern.language.keywords import CONDITIONS
from saltern.language.result import Result
from saltern.plan.plan import Plan, listener_chunk
from saltern.runtime.answers import RESUMED, Answers
from saltern.runtime.chunk_runner import ChunkRunner
from saltern.runtime.ports import KnownChunk
from saltern.runtime.substates import SubStates, add_contradiction
from saltern.system.faults import point


def run_listeners(runner: ChunkRunner) -> None:
    """Run the listeners in the order of declaration; their requisites do not count here."""
    scope, answers = runner.scope, runner.scope.answers
    for index in _due(scope.plan, answers):
        known = scope.shared.past.reaction(scope.path, index) if scope.shared.past else None
        if known is not None and known.answer is not None:
            answers.listing += [*known.steps, known.answer]
            continue
        answer = _react(runner, index, known)
        if scope.shared.journal:
            scope.shared.journal.listened(scope.path, index, answer)
        point("listener.reported")


def _due(plan: Plan, answers: Answers) -> Iterable[int]:
    """The listeners that react; joins are checked once, however many listeners name them."""
    steps = {listener.to for listener in plan.listeners}
    changed = {step for step in steps if any(map(answers.has_changed, plan.behind(step)))}
    due = dict.fromkeys(listener.index for listener in plan.listeners if listener.to in changed)
    return dict.fromkeys(index for step in due for index in plan.behind(step))


def _react(runner: ChunkRunner, index: int, known: KnownChunk | None) -> Answer:
    """Let a listener react. ``known``: it was reacting when the run broke."""
    scope, clock = runner.scope, runner.scope.shared.clock
    listener = listener_chunk(scope.plan.chunks[index])
    if known is not None and known.started is not None:
        scope.progress_of(~index).earlier = known.started.number
    started, tick = clock.now(), clock.tick()
    scope.say(ChunkStarted(listener, started, scope.path))
    begun = runner.begin(~index, started, tick)
    result = _reaction(runner, listener, index, known)
    del scope.progress[~index]
    point("listener.called")
    if result.sub:
        steps = SubStates(scope, listener, begun.number)
        for step in result.sub:
            steps.add(step)
        result = add_contradiction(result, steps.answers)
    answer = scope.make_answer(listener, shown_result(listener, result), begun)
    scope.answers.listing.append(answer)
    scope.say(ChunkFinished(answer))
    return answer


def _reaction(runner: ChunkRunner, listener: Chunk, index: int, known: KnownChunk | None) -> Result:
    scope, past = runner.scope, runner.scope.shared.past
    fun, earlier = scope.plan.chunks[index].fun, scope.progress[~index].earlier
    if known is not None and earlier is not None and past is not None:
        from saltern.runtime.interrupted_states import TAKEN, recover

        answer = recover(listener, known.traces, scope.shared.caller, scope.options.resume_question)
        if answer is TAKEN:
            past.reuse_programs(earlier)
            listener = replace(listener, words=listener.words - CONDITIONS)
        elif answer is not None:
            return answer
    registers = scope.answers.registers
    result = scope.executor.react(listener, fun, test=scope.options.test, registers=registers)
    return result if earlier is None else replace(result, extra={**result.extra, RESUMED: True})
