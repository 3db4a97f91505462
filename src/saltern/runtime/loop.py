"""The run loop.

The rule: take the steps in sequence; check the requisites of a chunk, run it or say why
not, record the answer, and run what it has delayed, before the next step. A failed chunk marked
failhard ends the run; chunks that were not reached are reported. Then listeners react. A delayed frame
is a run of its own, with the numbers and limits of the enclosing run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from saltern.language import secrets
from saltern.language.delayed import Frame
from saltern.language.events import Report, RunFinished, RunStarted, in_order
from saltern.language.hidden import shown_answer, shown_event
from saltern.plan.plan import Plan
from saltern.runtime.barriers import INTERRUPTED, PAUSES
from saltern.runtime.chunk_runner import ChunkRunner
from saltern.runtime.post_call import forgiven_failures
from saltern.runtime.run_shared import RunOptions, RunShared
from saltern.runtime.scope import Scope

if TYPE_CHECKING:
    from saltern.runtime.parallel import Parallel
    from saltern.runtime.ports import Caller, EventSink, FrameMaker, Journal
    from saltern.runtime.replay import Replay
    from saltern.system.clock import Clock

CALLS_PER_LEVEL = 20  # half of them is usual; waiting for parallel states needs more


def run(
    plan: Plan,
    *,
    caller: Caller,
    clock: Clock,
    options: RunOptions,
    on_event: EventSink | None = None,
    frames: FrameMaker | None = None,
    journal: Journal | None = None,
    jid: str = "",
) -> Report:
    """Run the whole plan, to the end or to the first failhard.

    What the ``journal`` knows of an earlier, broken run of the same plan is not run again.
    """
    shown = None if on_event is None else lambda event: on_event(shown_event(event))
    past = journal.past if journal else None
    shared = RunShared(caller, clock, options, shown, frames, journal, past, jid=jid)
    shared.number = past.number if past else 0
    whole = ScopeRun(plan, shared, None)
    if frames is None:
        return whole.run_whole()
    before = sys.getrecursionlimit()  # nested frames are nested calls; modules need room, too
    sys.setrecursionlimit(before + CALLS_PER_LEVEL * options.bounds.depth)
    try:
        return whole.run_whole()
    finally:
        sys.setrecursionlimit(before)


class ScopeRun(Scope):
    """The walk through one scope: the whole run, or one delayed frame."""

    def __init__(self, plan: Plan, shared: RunShared, frame: Frame | None) -> None:
        super().__init__(plan, shared, frame)
        self.runner = ChunkRunner(self)
        self.replay: Replay | None = None  # what an earlier process did in this scope
        if shared.past is not None and shared.journal is not None:
            from saltern.runtime.replay import Replay

            self.replay = Replay(self.runner, shared.past, shared.journal)

    def run_whole(self) -> Report:
        shared, begin = self.shared, self.shared.clock.tick()
        self.jid = shared.jid or shared.next_jid()
        self.say(
            RunStarted(
                total=len(self.plan.chunks),
                test=self.options.test,
                started=shared.clock.now(),
                chunks=self.plan.answer_chunks(),
            )
        )
        self.run_scope()
        took = shared.clock.tick() - begin
        self.say(RunFinished(took=took, stopped=self.stopped))
        return Report(
            answers=[shown_answer(one) for one in in_order(shared.listing)],
            test=self.options.test,
            took=took,
            stopped=secrets.mask(self.stopped),
            forgiven=frozenset(shared.forgiven),
            frames=shared.frames,
            jid=self.jid,
        )

    def run_frame(self, plan: Plan, frame: Frame) -> str:
        run = ScopeRun(plan, self.shared, frame)
        run.run_scope()
        return run.stopped

    def run_scope(self) -> None:
        """Run all steps, then report what was not reached, then run the listeners."""
        try:
            self._unless_interrupted(self._run_steps)
            if self.stopped == INTERRUPTED:
                self._end_what_runs_beside()
        except BaseException:  # such as a second interrupt while the first is handled
            self._end_what_runs_beside()
            raise
        if self.stopped:
            from saltern.runtime.early_end import report_unreached

            report_unreached(self, self.replay)
        if self.plan.listeners and self.stopped not in PAUSES:
            self._unless_interrupted(self._run_listeners)
        handled = forgiven_failures(self.plan, self.answers)
        self.shared.forgiven |= handled
        self.shared.apart |= handled

    def _end_what_runs_beside(self) -> None:
        if self.runner.parallel is not None:
            self.runner.parallel.abandon()

    def _unless_interrupted(self, work: Callable[[], None]) -> None:
        try:
            if self.stopped != INTERRUPTED:
                work()
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED

    def _run_steps(self) -> None:
        """Run steps until the scope is stopped; then wait for parallel chunks."""
        done, replay, runner = self.answers.of, self.replay, self.runner
        for step in self.plan.sequence:
            if step < 0:
                self._rehearse(~step)
            elif done[step] is None and not (replay is not None and replay.was_run(step)):
                if runner.parallel is None:
                    runner.answer(step)
                else:
                    self._take_beside(step, runner.parallel)
            if runner.parallel is not None and runner.parallel.busy:
                runner.parallel.reap()
            if self.stopped:
                break
        if runner.parallel is not None and self.stopped != INTERRUPTED:
            runner.parallel.drain()

    def _take_beside(self, index: int, parallel: Parallel) -> None:
        """Answer a chunk now, or postpone it until parallel chunks that it needs have ended."""
        if parallel.busy:
            if parallel.postpone(index):
                return
            parallel.settle(index)
        if not self.stopped:
            self.runner.answer(index)

    def _rehearse(self, index: int) -> None:
        from saltern.runtime.rehearsal import rehearse

        rehearse(self.runner, index, self.replay)

    def _run_listeners(self) -> None:
        from saltern.runtime.listeners import run_listeners

        run_listeners(self.runner)
