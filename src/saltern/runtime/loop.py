"""The run loop.

The rule, in one breath: take the steps in their sequence; ask a chunk's requisites, run it or say why
not, write the answer down, and run what it has delayed, before the next step. A failed chunk marked
failhard ends the run; what was not reached is told as such. Then those who listen react. A delayed frame
is a run of its own, with the numbers and limits of the one it is part of.
"""

from __future__ import annotations

import sys

from msgspec import Struct
from msgspec.structs import replace

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
from saltern.language.requisites import Standing, Vote
from saltern.language.result import Outcome, Result, failed, skipped
from saltern.language.result import blocked as not_run
from saltern.plan.plan import Plan
from saltern.runtime.afterwards import RELOADING_STATES, events, forgiven, reloads, silenced
from saltern.runtime.answers import Answers, Returned
from saltern.runtime.decide import Verdict, blocked, decide
from saltern.runtime.execute import Executor
from saltern.runtime.parallel import Parallel, is_parallel
from saltern.runtime.ports import Caller, FrameMaker, Recorder
from saltern.runtime.substates import SubStates, effective, judged
from saltern.runtime.world import INTERRUPTED, Rules, World
from saltern.system.clock import Clock

CALLS_PER_LEVEL = 20  # half of them is usual; waiting for parallel states takes more


def run(
    plan: Plan,
    *,
    caller: Caller,
    clock: Clock,
    rules: Rules,
    tell: Recorder | None = None,
    frames: FrameMaker | None = None,
) -> Report:
    """Everything in the plan, to the end or to the first failhard."""
    whole = _Run(plan, World(caller, clock, rules, tell, frames), None)
    if frames is None:
        return whole.all()
    before = sys.getrecursionlimit()  # frames in frames are calls in calls; modules keep their room
    sys.setrecursionlimit(before + CALLS_PER_LEVEL * rules.bounds.depth)
    try:
        return whole.all()
    finally:
        sys.setrecursionlimit(before)


class _Begun(Struct, frozen=True):
    """When a chunk was taken up, and the number it got."""

    number: int
    started: float
    tick: float


class _Run:
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
        self.parallel = Parallel(
            plan,
            self.answers,
            most=rules.max_parallel,
            begin=self.answer,
            end=self.ended,
            over=lambda: bool(self.stopped),
        )
        self.begun: dict[int, _Begun] = {}  # being called, here or in a process of their own
        self.gone: set[tuple[int, ...]] = set()  # groups whose first member has run
        self.stopped = ""

    def all(self) -> Report:
        begin = self.clock.tick()
        self.jid = self.world.next_jid()
        self.say(RunStarted(total=len(self.plan.chunks), test=self.rules.test, started=self.clock.now()))
        self.through()
        took = self.clock.tick() - begin
        self.say(RunFinished(took=took, stopped=self.stopped))
        return Report(
            answers=in_order(self.world.listing),
            test=self.rules.test,
            took=took,
            stopped=self.stopped,
            forgiven=frozenset(self.world.forgiven),
            frames=self.world.frames,
            jid=self.jid,
        )

    def inner(self, plan: Plan, frame: Frame) -> str:
        """Run a delayed frame; why it ended early, if it did."""
        run = _Run(plan, self.world, frame)
        run.through()
        return run.stopped

    def through(self) -> None:
        try:
            self.walk()
            if self.stopped != INTERRUPTED:
                self.parallel.drain()
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        if self.stopped == INTERRUPTED:
            self.parallel.abandon()
        if self.stopped:
            self.not_reached()
        if self.stopped != INTERRUPTED:
            self.listen()
        mended = forgiven(self.plan, self.answers)
        self.world.forgiven |= mended
        self.world.apart |= mended

    def walk(self) -> None:
        done = self.answers.of
        for step in self.plan.sequence:
            if step < 0:
                self.rehearse(~step)
            elif done[step] is None:
                self.take(step)
            if self.parallel.busy:
                self.parallel.reap()
            if self.stopped:
                return

    def take(self, place: int) -> None:
        """Answer it now, or postpone it for what still runs beside us."""
        if self.parallel.busy:
            if self.parallel.postpone(place):
                return
            self.parallel.settle(place)
        if not self.stopped:
            self.answer(place)

    # -- one chunk -------------------------------------------------------------------------------

    def answer(self, place: int) -> None:
        chunk = self.plan.chunks[place]
        started, tick = self.clock.now(), self.clock.tick()
        if self.tell:
            self.tell(ChunkStarted(chunk, started))
        verdict = decide(self.plan, place, self.answers)
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, place, verdict, self.answers)
        elif verdict.vote is Vote.HOLD:
            result = skipped(verdict.kind.held if verdict.kind else "")
        elif self.rules.disabled is not None and self.rules.disabled(chunk):
            result = not_run(f"not run: {chunk.function} is disabled on this machine")
        elif is_parallel(self.plan, place):
            self.begun[place] = _Begun(self.next_number(), started, tick)
            self.parallel.start(place, lambda: self.called(chunk, verdict))
            return
        else:
            begun = self.begun[place] = _Begun(self.next_number(), started, tick)
            steps = SubStates(self, chunk, begun.number)
            result = self.called(self.enlarged(place), verdict, steps)
            del self.begun[place]
            self.record(place, result, begun, steps)
            return
        self.record(place, result, _Begun(self.next_number(), started, tick))

    def ended(self, place: int, result: Result) -> None:
        """A chunk in a process of its own has answered; what it sent is told now."""
        for tag, data in result.sent:
            self.say(Fired(tag, data))
        begun = self.begun.pop(place)
        steps = SubStates(self, self.plan.chunks[place], begun.number)
        self.record(place, result, begun, steps, parallel=True)

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

    def enlarged(self, place: int) -> Chunk:
        """The first of a group does what the module can do of the others in the same go."""
        chunk = self.plan.chunks[place]
        members = self.plan.groups.get(place)
        if members is None or members in self.gone:
            return chunk
        self.gone.add(members)
        others = [self.plan.chunks[one] for one in members if self.answers.of[one] is None]
        return self.caller.aggregate(chunk, others, self.answers.by_tag())

    def record(
        self,
        place: int,
        result: Result,
        begun: _Begun,
        steps: SubStates | None = None,
        *,
        parallel: bool = False,
    ) -> None:
        chunk = self.plan.chunks[place]
        below: list[Answer] = []
        if steps is not None and (result.sub or steps.answers):
            for step in result.sub:
                steps(step)
            below = steps.answers
            result = judged(result, below)
        answer = Answer(
            chunk=chunk,
            result=silenced(chunk, result) if chunk.words else result,
            number=begun.number,
            started=begun.started,
            took=self.clock.tick() - begun.tick,
            parallel=parallel,
            parent=self.parent,
            under=self.under,
            depth=self.depth,
            frame=self.path,
        )
        self.answers.record(place, answer)
        if below:
            self.answers.roll_up(place, below)
        if self.tell:
            self.tell(ChunkFinished(answer))
            for event in events(answer, every=self.rules.events):
                self.tell(event)
        if not self.rules.test and (chunk.words or chunk.state in RELOADING_STATES):
            self.look_again(answer)
        if "register" in chunk.words:
            self.answers.registers[str(chunk.args["register"])] = Returned(answer, result)
        if chunk.delayed:
            from saltern.runtime.delayed import Delayed

            frames = Delayed(self, answer, result, below).all()
            self.answers.roll_up(place, [*below, *frames])
        if self.answers.effective(place).outcome is Outcome.FAILED and self.is_failhard(chunk):
            self.stopped = self.stopped or f"{chunk.sls}.{chunk.id} failed and is marked failhard"

    def look_again(self, answer: Answer) -> None:
        what = reloads(answer)
        if what:
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

    def rehearse(self, place: int) -> None:
        """What would this chunk change? One that fails already here has answered for good."""
        if self.parallel.busy:
            self.parallel.settle(place, rehearsal=True)
        chunk = self.plan.chunks[place]
        started, tick = self.clock.now(), self.clock.tick()
        verdict = decide(self.plan, place, self.answers, rehearsal=True)
        if verdict.vote is Vote.HOLD:
            self.answers.rehearsed[place] = Standing(Outcome.OK)
            return
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, place, verdict, self.answers)
        else:
            result = self.executor.execute(chunk, test=True, rehearsal=True, registers=self.answers.registers)
        foreseen = verdict.vote is Vote.SIGNAL and not result.quiet and self.caller.reacts(chunk.state)
        came = effective(result)
        self.answers.rehearsed[place] = Standing(came.outcome, came.changed or foreseen)
        if came.outcome is Outcome.FAILED:
            begun = _Begun(self.next_number(), started, tick)
            self.record(place, result, begun, SubStates(self, chunk, begun.number))

    def untimed(self, chunk: Chunk, result: Result, number: int) -> Answer:
        return Answer(
            chunk=chunk,
            result=result,
            number=number,
            timed=False,
            parent=self.parent,
            under=self.under,
            depth=self.depth,
            frame=self.path,
        )

    # -- the end -----------------------------------------------------------------------------------

    def not_reached(self) -> None:
        why = "interrupted" if self.stopped == INTERRUPTED else "failhard"
        result = not_run(f"not run ({why}): {self.stopped}")
        for step in self.plan.sequence:
            if step >= 0 and self.answers.of[step] is None:
                begun = self.begun.pop(step, None)  # what was interrupted keeps its number
                number = begun.number if begun else self.next_number()
                told = failed("interrupted while it ran; how far it came is not known") if begun else result
                answer = self.untimed(self.plan.chunks[step], told, number)
                self.answers.record(step, answer)
                self.say(ChunkFinished(answer))
                if answer.chunk.delayed:
                    from saltern.runtime.delayed import Delayed

                    Delayed(self, answer, result).not_reached()

    def listen(self) -> None:
        """Each listener reacts once, if anything it listens to has changed; requisites do not count here."""
        heard = {
            listener.place: None
            for listener in self.plan.listeners
            if self.answers.standings[listener.to] is not None and self.answers.effective(listener.to).changed
        }
        for place in heard:
            self.react(self.plan.chunks[place])

    def react(self, chunk: Chunk) -> None:
        heard = replace(chunk, id=f"listener_{chunk.id}", fun="mod_watch", requisites=())
        started, tick = self.clock.now(), self.clock.tick()
        self.say(ChunkStarted(heard, started))
        registers = self.answers.registers
        result = self.executor.react(heard, chunk.fun, test=self.rules.test, registers=registers)
        number = self.next_number()
        if result.sub:
            steps = SubStates(self, heard, number)
            for step in result.sub:
                steps(step)
            result = judged(result, steps.answers)
        answer = Answer(
            chunk=heard,
            result=silenced(heard, result),
            number=number,
            started=started,
            took=self.clock.tick() - tick,
            parent=self.parent,
            under=self.under,
            depth=self.depth,
            frame=self.path,
        )
        self.answers.listing.append(answer)
        self.say(ChunkFinished(answer))
