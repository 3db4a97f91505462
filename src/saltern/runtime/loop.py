"""The run loop.

The rule, in one breath: take the steps in their sequence; ask a chunk's requisites, run it or say why
not, write the answer down, and run what it has delayed, before the next step. A failed chunk marked
failhard ends the run; what was not reached is told as such. Then those who listen react. A delayed frame
is a run of its own, with the numbers and limits of the one it is part of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language.barriers import Crossing
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Fired,
    Report,
    RunFinished,
    RunStarted,
    in_order,
)
from saltern.language.hidden import shown_answer, shown_event, shown_result
from saltern.language.keywords import CONDITIONS
from saltern.language.requisites import Standing, Vote
from saltern.language.result import LOOKED, Outcome, Result, failed, skipped
from saltern.language.result import blocked as not_run
from saltern.plan.plan import Plan, is_parallel, listening
from saltern.runtime.answers import RESUMED, Answers, Returned
from saltern.runtime.barriers import (
    INTERRUPTED,
    MOST,
    PAUSES,
    STOPS,
    asked,
    not_yet,
    refused,
    waiting,
)
from saltern.runtime.decide import Verdict, blocked, decide, waits_for_change
from saltern.runtime.execute import Executor
from saltern.runtime.post_call import events, forgiven, reloads
from saltern.runtime.run_shared import Begun, Rules, World
from saltern.runtime.substates import SubStates, effective, judged
from saltern.system.faults import point

if TYPE_CHECKING:
    from saltern.runtime.parallel import Parallel
    from saltern.runtime.ports import Caller, FrameMaker, Journal, Known, Recorder
    from saltern.runtime.replay import Before
    from saltern.system.clock import Clock

HALFWAY = replace(
    failed("interrupted while it ran; how far it came is not known"), extra={"interrupted": True}
)
CALLS_PER_LEVEL = 20  # half of them is usual; waiting for parallel states takes more


def run(
    plan: Plan,
    *,
    caller: Caller,
    clock: Clock,
    rules: Rules,
    tell: Recorder | None = None,
    frames: FrameMaker | None = None,
    journal: Journal | None = None,
    jid: str = "",
) -> Report:
    """Everything in the plan, to the end or to the first failhard.

    What the ``journal`` knows of an earlier, broken run of the same plan is not done again.
    """
    told = None if tell is None else lambda event: tell(shown_event(event))
    world = World(caller, clock, rules, told, frames, journal, jid=jid)
    world.number = journal.number if journal else 0
    whole = ScopeRun(plan, world, None)
    if frames is None:
        return whole.all()
    before = sys.getrecursionlimit()  # frames in frames are calls in calls; modules keep their room
    sys.setrecursionlimit(before + CALLS_PER_LEVEL * rules.bounds.depth)
    try:
        return whole.all()
    finally:
        sys.setrecursionlimit(before)


class ScopeRun:
    """One scope: the whole run, or one delayed ``frame`` of it."""

    def __init__(self, plan: Plan, world: World, frame: Frame | None) -> None:
        rules = world.rules
        self.plan = plan
        self.world = world
        self.frame = frame
        self.caller = world.caller
        self.clock = world.clock
        self.rules = rules
        self.tell = world.tell
        self.executor = Executor(world.caller, world.clock, rules.allowed)
        self.answers = Answers(plan, world.listing)
        self.path = frame.path if frame else ""
        self.depth = frame.depth if frame else 0
        self.parent = frame.parent if frame else ""
        self.under = frame.caller if frame else -1
        self.jid = frame.jid if frame else ""
        self.parallel: Parallel | None = None  # made for the first state that runs beside the others
        self.begun: dict[int, Begun] = {}  # being called, here or in a process of their own
        self.journal = world.journal
        self.before: Before | None = None  # what an earlier process has done of this scope
        if world.journal is not None and world.journal.resuming:
            from saltern.runtime.replay import Before

            self.before = Before(self, world.journal)
        self.again: dict[int, int] = {}  # begun before the run broke → the number it had
        self.crossings: dict[int, Crossing] = {}  # called again, on the other side of a barrier
        self.taken: set[int] = set()  # called again, with the results that its programs had
        self.spans: dict[int, tuple[float, float]] = {}  # of these: its begin, the end of its programs
        self.waits: dict[int, tuple[Begun, Result]] = {}  # have asked for a barrier
        self.gone: set[tuple[int, ...]] = set()  # groups whose first member has run
        self.stopped = ""

    def all(self) -> Report:
        begin = self.clock.tick()
        self.jid = self.world.jid or self.world.next_jid()
        self.say(
            RunStarted(
                total=len(self.plan.chunks),
                test=self.rules.test,
                started=self.clock.now(),
                chunks=self.plan.answering(),
            )
        )
        self.through()
        took = self.clock.tick() - begin
        self.say(RunFinished(took=took, stopped=self.stopped))
        return Report(
            answers=[shown_answer(one) for one in in_order(self.world.listing)],
            test=self.rules.test,
            took=took,
            stopped=self.stopped,
            forgiven=frozenset(self.world.forgiven),
            frames=self.world.frames,
            jid=self.jid,
        )

    def inner(self, plan: Plan, frame: Frame) -> str:
        """Run a delayed frame; why it ended early, if it did."""
        run = ScopeRun(plan, self.world, frame)
        run.through()
        return run.stopped

    def through(self) -> None:
        self.unless_interrupted(self.walk)
        if self.parallel is not None and self.stopped == INTERRUPTED:
            self.parallel.abandon()
        if self.stopped:
            self.not_reached()
        if self.stopped not in PAUSES:
            self.unless_interrupted(self.listen)
        mended = forgiven(self.plan, self.answers)
        self.world.forgiven |= mended
        self.world.apart |= mended

    def unless_interrupted(self, work: Callable[[], None]) -> None:
        try:
            if self.stopped != INTERRUPTED:
                work()
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED

    def walk(self) -> None:
        self.steps()
        if self.parallel is not None and self.stopped != INTERRUPTED:
            self.parallel.drain()

    def steps(self) -> None:
        done = self.answers.of
        before = self.before
        for step in self.plan.sequence:
            if step < 0:
                self.rehearse(~step)
            elif done[step] is None and not (before is not None and before.replayed(step)):
                self.take(step)
            if self.parallel is not None and self.parallel.busy:
                self.parallel.reap()
            if self.stopped:
                return

    def take(self, index: int) -> None:
        """Answer it now, or postpone it for what still runs beside us."""
        if self.parallel is not None and self.parallel.busy:
            if self.parallel.postpone(index):
                return
            self.parallel.settle(index)
        if not self.stopped:
            self.answer(index)

    # -- one chunk -------------------------------------------------------------------------------

    def answer(self, index: int) -> None:
        chunk = self.plan.chunks[index]
        if self.goes_on(index):  # what it was asked before, it is not asked again
            chunk = replace(chunk, words=chunk.words - CONDITIONS)
        started, tick = self.clock.now(), self.clock.tick()
        if self.tell:
            self.tell(ChunkStarted(chunk, started, self.path))
        verdict = decide(self.plan, index, self.answers)
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, index, verdict, self.answers)
        elif verdict.vote is Vote.HOLD:
            result = skipped(verdict.kind.held if verdict.kind else "")
        elif self.rules.disabled is not None and self.rules.disabled(chunk):
            result = not_run(f"not run: {chunk.function} is disabled on this machine")
        elif is_parallel(self.plan, index):
            self.begin(index, started, tick)
            self.beside().start(index, lambda: self.called(chunk, verdict))
            return
        else:
            begun = self.begin(index, started, tick)
            steps = SubStates(self, chunk, begun.number)
            result = self.called(chunk if self.goes_on(index) else self.enlarged(index), verdict, steps)
            point("state.called")
            del self.begun[index]
            self.record(index, result, begun, steps)
            return
        self.record(index, result, Begun(self.next_number(), started, tick))

    def goes_on(self, index: int) -> bool:
        """Whether it was begun by an earlier process, and is not begun anew."""
        return index in self.crossings or index in self.taken

    def beside(self) -> Parallel:
        """Those that run in processes of their own."""
        if self.parallel is None:
            from saltern.runtime.parallel import Parallel

            self.parallel = Parallel(
                self.plan,
                self.answers,
                most=self.rules.max_parallel,
                begin=self.answer,
                end=self.ended,
                over=lambda: bool(self.stopped),
            )
        return self.parallel

    def begin(self, index: int, started: float, tick: float) -> Begun:
        """It is about to be called: that is on disk before it acts."""
        number = self.again[index] if index in self.again else self.next_number()
        begun = self.begun[index] = Begun(number, started, tick)
        if self.crossings:
            self.caller.arrived(self.crossings.get(index))
        if self.journal and self.journal.starting(self.path, index, begun, self.plan):
            self.again[index] = number
        point("state.call")
        return begun

    def ended(self, index: int, result: Result) -> None:
        """A chunk in a process of its own has answered; what it sent is told now."""
        for tag, data in result.sent:
            self.say(Fired(tag, data))
        begun = self.begun.pop(index)
        steps = SubStates(self, self.plan.chunks[index], begun.number)
        self.record(index, result, begun, steps, parallel=True)

    def called(self, chunk: Chunk, verdict: Verdict, steps: SubStates | None = None) -> Result:
        registers = self.answers.registers
        result = self.executor.execute(chunk, test=self.rules.test, registers=registers, emit=steps)
        if verdict.vote is not Vote.SIGNAL or result.quiet:
            return result
        came = effective(result, steps.answers if steps else ())
        if came.changed or came.outcome is Outcome.FAILED:
            return result
        again = self.executor.react(chunk, chunk.fun, test=self.rules.test, registers=registers)
        return replace(again, sub=(*result.sub, *again.sub)) if result.sub else again

    def enlarged(self, index: int) -> Chunk:
        """The first of a group does what the module can do of the others in the same go."""
        chunk = self.plan.chunks[index]
        members = self.plan.groups.get(index)
        if members is None or members in self.gone:
            return chunk
        self.gone.add(members)
        others = [self.plan.chunks[one] for one in members if self.answers.of[one] is None]
        return self.caller.aggregate(chunk, others, self.answers.by_tag())

    def record(
        self,
        index: int,
        result: Result,
        begun: Begun,
        steps: SubStates | None = None,
        *,
        parallel: bool = False,
    ) -> None:
        below: list[Answer] = []
        if steps is not None and (result.sub or steps.answers):
            for step in result.sub:
                steps(step)
            below = steps.answers
            result = judged(result, below)
        if LOOKED in result.extra:
            result = self.looked(index, result)
        if result.extra:
            granted = self.barred(index, result, begun)
            if granted is None:
                return
            result = granted
        if index in self.again and not (index in self.crossings and self.crossings[index].fresh):
            result = replace(result, extra={**result.extra, RESUMED: True})
        self.conclude(index, result, begun, below, parallel=parallel)

    def looked(self, index: int, result: Result) -> Result:
        """What a test run found out, unless a state before it would change that."""
        if waits_for_change(self.plan, index, self.answers):
            from saltern.runtime.late import deferred

            return deferred(["the states it requires"])
        return replace(result, extra={key: value for key, value in result.extra.items() if key != LOOKED})

    def barred(self, index: int, result: Result, begun: Begun) -> Result | None:
        """Its answer, unless it asks for a barrier: then the run pauses, and it has none yet."""
        barrier = asked(result)
        if barrier is None or self.rules.test:
            return result
        before = self.crossings[index].times if index in self.crossings else 0
        why = ""
        if self.stopped and self.stopped not in PAUSES:
            why = f"the run ends: {self.stopped}"
        elif before >= MOST:
            why = f"it has asked {before} times"
        if self.journal is None or why:
            return refused(result, barrier, why or "this run has no journal, so it could not be resumed")
        self.journal.barrier(self.path, index, begun, barrier, result)
        self.waits[index] = begun, waiting(result, barrier)
        self.stopped = self.stopped or STOPS[barrier.kind]
        return None

    def conclude(
        self, index: int, result: Result, begun: Begun, below: list[Answer], *, parallel: bool = False
    ) -> None:
        """It has answered, for good."""
        chunk = self.plan.chunks[index]
        hidden = shown_result(chunk, result) if chunk.words else result
        answer = self.told(chunk, hidden, begun, parallel=parallel)
        if index in self.spans:
            began, ended = self.spans[index]
            answer = replace(answer, started=began, took=max(ended - began, answer.took))
        if self.journal:
            self.journal.finished(self.path, index, answer, result)
        point("state.answered")
        self.settle(index, answer, result, below)
        point("state.settled")

    def settle(
        self, index: int, answer: Answer, result: Result, below: list[Answer], *, replayed: bool = False
    ) -> None:
        """All that follows from an answer. One that is ``replayed`` was told and acted on before."""
        chunk = answer.chunk
        self.answers.record(index, answer)
        if below:
            self.answers.roll_up(index, below)
        if self.tell and not replayed:
            self.tell(ChunkFinished(answer))
            for event in events(answer, every=self.rules.events):
                self.tell(event)
        if not self.rules.test and not replayed and (chunk.words or answer.result.changes):
            self.look_again(answer)
        if "register" in chunk.words:
            self.answers.registers[str(chunk.args["register"])] = Returned(answer, result)
        if chunk.delayed:
            from saltern.runtime.delayed import Delayed

            frames = Delayed(self, answer, result, below).all()
            self.answers.roll_up(index, [*below, *frames])
        if self.answers.effective(index).outcome is Outcome.FAILED and self.is_failhard(chunk):
            self.stopped = self.stopped or f"{chunk.sls}.{chunk.label} failed and is marked failhard"

    def told(
        self, chunk: Chunk, result: Result, begun: Begun, *, timed: bool = True, parallel: bool = False
    ) -> Answer:
        """An answer of this scope."""
        return Answer(
            chunk=chunk,
            result=result,
            number=begun.number,
            started=begun.started,
            took=self.clock.tick() - begun.tick if timed else 0.0,
            timed=timed,
            parallel=parallel,
            parent=self.parent,
            under=self.under,
            depth=self.depth,
            frame=self.path,
        )

    def look_again(self, answer: Answer) -> None:
        chunk = answer.chunk
        if what := reloads(answer, modules=self.caller.nature(chunk.state, chunk.fun).reloads):
            self.caller.refresh(what)

    def is_failhard(self, chunk: Chunk) -> bool:
        if self.rules.test:
            return False
        return bool(chunk.args["failhard"]) if "failhard" in chunk.words else self.rules.failhard

    def next_number(self) -> int:
        self.world.number += 1
        return self.world.number - 1

    def say(self, event: Event) -> None:
        if self.tell:
            self.tell(event)

    # -- prereq ------------------------------------------------------------------------------------

    def rehearse(self, index: int) -> None:
        """What would this chunk change? One that fails already here has answered for good."""
        if self.parallel is not None and self.parallel.busy:
            self.parallel.settle(index, rehearsal=True)
        known = self.journal.was_rehearsed(self.path, index) if self.journal else None
        if known is not None and known.outcome is not Outcome.FAILED:
            self.answers.rehearsed[index] = known
        elif self.before is None or not self.before.failed_in_rehearsal(index):
            self.foresee(index)
            point("rehearsed")
            if self.journal:
                self.journal.rehearsed(self.path, index, self.answers.rehearsed[index])

    def foresee(self, index: int) -> None:
        chunk = self.plan.chunks[index]
        started, tick = self.clock.now(), self.clock.tick()
        verdict = decide(self.plan, index, self.answers, rehearsal=True)
        if verdict.vote is Vote.HOLD:
            self.answers.rehearsed[index] = Standing(Outcome.OK)
            return
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, index, verdict, self.answers)
        else:
            result = self.executor.execute(chunk, test=True, rehearsal=True, registers=self.answers.registers)
        foreseen = verdict.vote is Vote.SIGNAL and not result.quiet and self.caller.reacts(chunk.state)
        came = effective(result)
        self.answers.rehearsed[index] = Standing(came.outcome, came.changed or foreseen)
        if came.outcome is Outcome.FAILED:
            begun = Begun(self.next_number(), started, tick)
            self.record(index, result, begun, SubStates(self, chunk, begun.number))

    # -- the end -----------------------------------------------------------------------------------

    def not_reached(self) -> None:
        why = PAUSES.get(self.stopped, "failhard")
        barred = self.stopped in STOPS.values()
        result = not_yet(self.stopped) if barred else not_run(f"not run ({why}): {self.stopped}")
        for step in self.plan.sequence:
            if step < 0 or self.answers.of[step] is not None:
                continue
            if self.before is None or not self.before.came_further(step):
                begun = self.begun.pop(step, None)  # what was interrupted keeps its number
                told = HALFWAY if begun else result
                if step in self.waits:
                    begun, told = self.waits[step]
                number = begun.number if begun else self.next_number()
                answer = self.told(self.plan.chunks[step], told, Begun(number, 0.0, 0.0), timed=False)
                self.answers.record(step, answer)
                if self.journal and self.stopped not in PAUSES:
                    self.journal.finished(self.path, step, answer, told)
                self.say(ChunkFinished(answer))
                if answer.chunk.delayed:
                    from saltern.runtime.delayed import Delayed

                    Delayed(self, answer, result).not_reached()

    def listen(self) -> None:
        """Each listener reacts once, if anything it listens to has changed; requisites do not count here."""
        heard = {
            listener.index: None
            for listener in self.plan.listeners
            if self.answers.standings[listener.to] is not None and self.answers.effective(listener.to).changed
        }
        for index in heard:
            known = self.journal.has_listened(self.path, index) if self.journal else None
            if known is not None and known.answer is not None:
                self.answers.listing += [*known.steps, known.answer]
                continue
            answer = self.react(index, known)
            if self.journal:
                self.journal.listened(self.path, index, answer)
            point("listener.told")

    def react(self, index: int, known: Known | None) -> Answer:
        """``known``: it was reacting when the run broke."""
        chunk = self.plan.chunks[index]
        heard = listening(chunk)
        if known is not None and known.started is not None:
            self.again[~index] = known.started.number
        started, tick = self.clock.now(), self.clock.tick()
        self.say(ChunkStarted(heard, started, self.path))
        begun = self.begin(~index, started, tick)
        result = self.reaction(heard, index, known)
        del self.begun[~index]
        point("listener.called")
        if result.sub:
            steps = SubStates(self, heard, begun.number)
            for step in result.sub:
                steps(step)
            result = judged(result, steps.answers)
        answer = self.told(heard, shown_result(heard, result), begun)
        self.answers.listing.append(answer)
        self.say(ChunkFinished(answer))
        return answer

    def reaction(self, heard: Chunk, index: int, known: Known | None) -> Result:
        fun, again = self.plan.chunks[index].fun, ~index in self.again
        if known is not None and again:
            from saltern.runtime.interrupted_states import TAKEN, recovered

            answer = recovered(heard, known.traces, self.caller)
            if answer is TAKEN and self.journal:
                self.journal.retake(self.again[~index])
                heard = replace(heard, words=heard.words - CONDITIONS)
            elif answer is not None:
                return answer
        result = self.executor.react(heard, fun, test=self.rules.test, registers=self.answers.registers)
        return replace(result, extra={**result.extra, RESUMED: True}) if again else result
