"""Run one chunk of a scope: check its requisites, call it, record its answer.

The rule: a call is in the journal before it acts, and its answer is in the journal
before anything follows from it. A chunk that requests a barrier has no answer until the barrier is crossed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language import secrets
from saltern.language.chunk import Chunk
from saltern.language.events import Answer, ChunkFinished, ChunkStarted, Fired
from saltern.language.hidden import shown_result
from saltern.language.keywords import CONDITIONS
from saltern.language.requisites import Vote
from saltern.language.result import LOOKED, Outcome, Result, skipped
from saltern.language.result import blocked as not_run
from saltern.plan.plan import is_parallel
from saltern.runtime.answers import RESUMED, Returned
from saltern.runtime.barriers import MOST, PAUSES, STOPS, refused_result, requested_barrier, waiting_result
from saltern.runtime.decide import Verdict, blocked_result, decide, waits_for_change
from saltern.runtime.post_call import events, reloads
from saltern.runtime.progress import Begun
from saltern.runtime.scope import Scope
from saltern.runtime.substates import SubStates, add_contradiction, effective
from saltern.system.faults import point

if TYPE_CHECKING:
    from saltern.runtime.parallel import Parallel


class ChunkRunner:
    """Runs the chunks of one scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.parallel: Parallel | None = None  # made for the first parallel state

    @property
    def stopped(self) -> str:
        return self.scope.stopped

    def answer(self, index: int) -> None:
        """Check its requisites; call it, or record why it is not called."""
        scope, shared = self.scope, self.scope.shared
        chunk = scope.plan.chunks[index]
        progress = scope.progress.get(index)
        continues = progress is not None and progress.continues
        if continues:  # its conditions were met when the call began
            chunk = replace(chunk, words=chunk.words - CONDITIONS)
        started, tick = shared.clock.now(), shared.clock.tick()
        verdict = decide(scope.plan, index, scope.answers)
        result = self._reason_not_to_call(index, chunk, verdict)
        if shared.on_event:
            shared.on_event(ChunkStarted(chunk, started, scope.path, held=result is not None))
        if result is not None:
            self.record(index, result, Begun(scope.next_number(), started, tick))
        elif is_parallel(scope.plan, index):
            parallel = self._start_parallel()
            parallel.wait_for_place()  # the wait does not count as run time
            self.begin(index, shared.clock.now(), shared.clock.tick())
            parallel.start(index, partial(self.call, chunk, verdict))
            self._forget_crossing(index)
        else:
            begun = self.begin(index, started, tick)
            steps = SubStates(scope, chunk, begun.number)
            result = self.call(chunk if continues else self.aggregate_group(index), verdict, steps)
            point("state.called")
            self._forget_crossing(index)
            self.record(index, result, begun, steps)

    def _reason_not_to_call(self, index: int, chunk: Chunk, verdict: Verdict) -> Result | None:
        if verdict.vote is Vote.FAIL:
            return blocked_result(self.scope.plan, index, verdict, self.scope.answers)
        if verdict.vote is Vote.HOLD:
            return skipped(verdict.kind.held if verdict.kind else "")
        disabled = self.scope.options.disabled
        if disabled is not None and disabled(chunk):
            return not_run(f"not run: {chunk.function} is disabled on this machine")
        return None

    def begin(self, index: int, started: float, tick: float) -> Begun:
        """Announce the call to the journal, which is on disk before the chunk acts."""
        scope, journal = self.scope, self.scope.shared.journal
        progress = scope.progress_of(index)
        number = scope.next_number() if progress.earlier is None else progress.earlier
        begun = progress.begun = Begun(number, started, tick)
        if progress.crossing is not None:
            scope.shared.caller.arrived(progress.crossing)
        if journal and journal.starting(scope.path, index, begun, scope.plan):
            progress.earlier = number
        point("state.call")
        return begun

    def _forget_crossing(self, index: int) -> None:
        """Forget the crossing: the next call has not requested the barrier."""
        if self.scope.progress[index].crossing is not None:
            self.scope.shared.caller.arrived(None)

    def _start_parallel(self) -> Parallel:
        """The runner of parallel chunks."""
        if self.parallel is None:
            from saltern.runtime.parallel import Parallel

            scope = self.scope
            self.parallel = Parallel(scope.plan, scope.answers, self, most=scope.options.max_parallel)
        return self.parallel

    def finish_parallel(self, index: int, result: Result) -> None:
        """Record the answer of a parallel chunk, and report its events."""
        scope = self.scope
        for tag, data in result.sent:
            scope.say(Fired(tag, data))
        begun = scope.progress[index].begun
        assert begun is not None
        steps = SubStates(scope, scope.plan.chunks[index], begun.number)
        self.record(index, result, begun, steps, parallel=True)

    def call(self, chunk: Chunk, verdict: Verdict, steps: SubStates | None = None) -> Result:
        """Call the state function; then its reaction, if a watched state has changed and it has not."""
        executor, test, registers = self.scope.executor, self.scope.options.test, self.scope.answers.registers
        result = executor.execute(chunk, test=test, registers=registers, steps=steps)
        if verdict.vote is not Vote.SIGNAL or result.quiet:
            return result
        came = effective(result, steps.answers if steps else ())
        if came.changed or came.outcome is Outcome.FAILED:
            return result
        again = executor.react(chunk, chunk.fun, test=test, registers=registers)
        return replace(again, sub=(*result.sub, *again.sub)) if result.sub else again

    def aggregate_group(self, index: int) -> Chunk:
        """The first chunk of a group, extended by what the module can process of the others in the same
        call.
        """
        scope = self.scope
        chunk = scope.plan.chunks[index]
        members = scope.plan.groups.get(index)
        if members is None or members in scope.groups_run:
            return chunk
        scope.groups_run.add(members)
        others = [scope.plan.chunks[one] for one in members if scope.answers.of[one] is None]
        return scope.shared.caller.aggregate(chunk, others, scope.answers.by_tag())

    def record(
        self,
        index: int,
        result: Result,
        begun: Begun,
        steps: SubStates | None = None,
        *,
        parallel: bool = False,
    ) -> None:
        """Record the result of a call; if it requests a barrier, the run pauses instead."""
        below: list[Answer] = []
        if steps is not None and (result.sub or steps.answers):
            for step in result.sub:
                steps.add(step)
            below = steps.answers
            result = add_contradiction(result, below)
        if result.extra:
            if LOOKED in result.extra:
                result = self._defer_if_unknown(index, result)
            granted = self.pause_for_barrier(index, result, begun)
            if granted is None:
                return
            result = granted
        progress = self.scope.progress.get(index)
        if progress is not None and progress.repeats:
            result = replace(result, extra={**result.extra, RESUMED: True})
        self.conclude(index, result, begun, below, parallel=parallel)

    def _defer_if_unknown(self, index: int, result: Result) -> Result:
        """The result of a test run; unknown if an earlier state would change something."""
        if waits_for_change(self.scope.plan, index, self.scope.answers):
            from saltern.runtime.late import deferred_result

            return deferred_result(["the states it requires"])
        return replace(result, extra={key: value for key, value in result.extra.items() if key != LOOKED})

    def pause_for_barrier(self, index: int, result: Result, begun: Begun) -> Result | None:
        """The result, with a refusal if a barrier is not granted; None if it is, and the run pauses."""
        scope, journal, barrier = self.scope, self.scope.shared.journal, requested_barrier(result)
        if barrier is None or scope.options.test:
            return result
        crossing = scope.progress_of(index).crossing
        times = crossing.times if crossing is not None else 0
        why = ""
        if scope.stopped and scope.stopped not in PAUSES:
            why = f"the run ends: {scope.stopped}"
        elif times >= MOST:
            why = f"it has asked {times} times"
        if journal is None or why:
            return refused_result(
                result, barrier, why or "this run has no journal, so it could not be resumed"
            )
        journal.barrier(scope.path, index, begun, barrier, result)
        progress = scope.progress_of(index)
        progress.begun, progress.waiting = begun, waiting_result(result, barrier)
        scope.stopped = scope.stopped or STOPS[barrier.kind]
        return None

    def conclude(
        self, index: int, result: Result, begun: Begun, below: list[Answer], *, parallel: bool = False
    ) -> None:
        """Make the answer final: write it to the journal, then act on it."""
        scope, journal = self.scope, self.scope.shared.journal
        chunk = scope.plan.chunks[index]
        hidden = shown_result(chunk, result) if chunk.words or secrets.known() else result
        answer = scope.make_answer(chunk, hidden, begun, parallel=parallel)
        progress = scope.progress.pop(index, None)
        if progress is not None and progress.programs is not None:
            began, ended = progress.programs
            answer = replace(answer, started=began, took=max(ended - began, answer.took))
        if journal:
            journal.finished(scope.path, index, answer, result)
        point("state.answered")
        self.settle(index, answer, result, below)
        point("state.settled")

    def settle(
        self, index: int, answer: Answer, result: Result, below: list[Answer], *, replayed: bool = False
    ) -> None:
        """Act on an answer. A ``replayed`` answer was reported by an earlier process."""
        scope, chunk = self.scope, answer.chunk
        scope.answers.record(index, answer)
        if below:
            scope.answers.roll_up(index, below)
        if not replayed:
            _report(scope, answer)
        if "register" in chunk.words:
            scope.answers.registers[str(chunk.args["register"])] = Returned(answer, result)
        if chunk.delayed:
            from saltern.runtime.delayed import Delayed

            frames = Delayed(scope, answer, result, below).run_all()
            scope.answers.roll_up(index, [*below, *frames])
        if scope.answers.effective(index).outcome is Outcome.FAILED and scope.is_failhard(chunk):
            scope.stopped = scope.stopped or f"{chunk.sls}.{chunk.label} failed and is marked failhard"


def _report(scope: Scope, answer: Answer) -> None:
    """Send the events of an answer, and refresh grains, pillar and modules that it may have changed."""
    options, on_event, chunk = scope.options, scope.shared.on_event, answer.chunk
    if on_event:
        on_event(ChunkFinished(answer))
        for event in events(answer, every=options.events):
            on_event(event)
    if not options.test and (chunk.words or answer.result.changes):
        caller = scope.shared.caller
        if what := reloads(answer, modules=caller.nature(chunk.state, chunk.fun).reloads):
            caller.refresh(what)
