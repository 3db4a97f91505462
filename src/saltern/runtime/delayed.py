"""The delayed targets of one caller, once its own answer is final: rendered and run in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame, Target
from saltern.language.events import Answer, ChunkFinished, Event, FrameFinished, FrameStarted
from saltern.language.result import Outcome, Result, failed
from saltern.language.result import blocked as not_run
from saltern.plan.plan import Plan
from saltern.runtime.answers import Answers, standing
from saltern.runtime.barriers import PAUSES, STOPS, not_yet
from saltern.runtime.frame_policy import FATES, Fate, came, placeholder, refusal, stand_in
from saltern.runtime.ports import Call, Told, Unrendered
from saltern.runtime.run_shared import INTERRUPTED, World
from saltern.system.faults import point

REFUSED = "refused"  # in a result: over the repeat limit, which is nobody else's failure


class Scope(Protocol):
    """The run that the caller belongs to."""

    world: World
    answers: Answers
    depth: int
    jid: str
    stopped: str

    path: str

    def next_number(self) -> int: ...
    def is_failhard(self, chunk: Chunk) -> bool: ...
    def say(self, event: Event) -> None: ...
    def inner(self, plan: Plan, frame: Frame) -> str: ...


class Delayed:
    """``result`` is all that the caller knows; its ``answer`` may hide some of it from the report.

    ``steps`` are the answers of its sub states.
    """

    def __init__(self, scope: Scope, answer: Answer, result: Result, steps: Sequence[Answer] = ()) -> None:
        self.scope = scope
        self.world = scope.world
        self.answer = answer
        self.result = result
        self.steps = steps
        self.told = Told()
        self.known = self._filled()
        self.at = 0  # the index of the target that is due

    def _filled(self) -> Answer:
        """The answer for what is rendered after it: with the name and the contexts that it really had."""
        chunk = self.answer.chunk
        if not chunk.late:
            return self.answer
        from saltern.runtime.late import filled_in

        filled = filled_in(chunk, self.scope.answers.registers, test=False)
        return replace(self.answer, chunk=filled) if isinstance(filled, Chunk) else self.answer

    def all(self) -> list[Answer]:
        """What the targets came to, as far as it counts for those who wait for the caller."""
        counted: list[Answer] = []
        state = came(self.result, standing(self.answer, self.steps), test=self.world.rules.test)
        for at, target in enumerate(self.known.chunk.delayed):
            self.at = at
            fate = FATES[target.when][state]
            paused = self.scope.stopped in PAUSES
            if not paused and (before := self._before(target)) is not None:
                counted += before
                if fate is Fate.RENDER:
                    self._end_if_failed(before)
            elif self.scope.stopped:
                counted.append(self._not_reached(target))
            elif fate is Fate.RENDER:
                came_to = self._rendered(target, counted)
                counted += came_to
                self._end_if_failed(came_to)
            else:
                told = placeholder(fate, state, self.answer.chunk, self.result)
                counted.append(self._stand_in(target, told))
        return counted

    def _end_if_failed(self, came_to: Sequence[Answer]) -> None:
        """Of a caller that is marked failhard, nothing more is rendered after a target has failed."""
        chunk = self.answer.chunk
        if any(one.result.outcome is Outcome.FAILED for one in came_to) and self.scope.is_failhard(chunk):
            told = f"{chunk.sls}.{chunk.label} failed and is marked failhard"
            self.scope.stopped = self.scope.stopped or told

    def not_reached(self) -> None:
        for target in self.answer.chunk.delayed:
            self._not_reached(target)

    def _not_reached(self, target: Target) -> Answer:
        why, stopped = PAUSES.get(self.scope.stopped, "failhard"), self.scope.stopped
        told = not_yet(stopped) if stopped in STOPS.values() else not_run(f"not rendered ({why}): {stopped}")
        return self._stand_in(target, told, reached=False)

    def _rendered(self, target: Target, earlier: Sequence[Answer]) -> Sequence[Answer]:
        """One frame, unless it is one too many."""
        world, scope, path = self.world, self.scope, self.answer.path
        why, counts = refusal(target, path, scope.depth + 1, world.used, world.rules.bounds)
        if why:
            return self._refused(target, why, counts=counts)
        assert world.maker is not None, "a plan with callers was run without a renderer"
        number = world.used.take(target, path)
        begin = world.clock.tick()
        try:
            plan = world.maker.make(
                Call(
                    target=target,
                    answer=self.known,
                    result=self.result,
                    steps=self.steps,
                    earlier=earlier,
                    told=self.told,
                )
            )
        except Unrendered as problem:
            return [self._stand_in(target, failed(str(problem)))]
        except KeyboardInterrupt:
            scope.stopped = INTERRUPTED
            return [self._not_reached(target)]
        frame = self._frame(target, number, len(plan.chunks))
        point("frame.made")
        if world.journal:
            world.journal.frame(scope.path, self.at, frame, plan)
        return self._run(plan, frame, begin)

    def _before(self, target: Target) -> Sequence[Answer] | None:
        """What an earlier process has made of this target; a frame that it had begun goes on here."""
        world, scope, number = self.world, self.scope, self.answer.number
        if world.journal is None:
            return None
        answer = world.journal.had_stand_in(scope.path, number, self.at)
        if answer is not None:
            world.listing.append(answer)
            if REFUSED in answer.result.extra:
                return self._apart(target, answer)
            if answer.result.ran:  # it could not be rendered, and counts as if it had been
                world.used.take(target, self.answer.path)
            return [answer]
        frame = world.journal.had_frame(scope.path, number, self.at)
        if frame is None:
            return None
        assert world.maker is not None
        world.used.take(target, self.answer.path)
        world.used.paths.add(frame[0].path)
        world.maker.enter(frame[1])
        return self._run(frame[1], frame[0], world.clock.tick())

    def _run(self, plan: Plan, frame: Frame, begin: float) -> Sequence[Answer]:
        world, scope = self.world, self.scope
        assert world.maker is not None
        point("frame.entered")
        scope.say(FrameStarted(frame, plan.answering()))
        first = len(world.listing)
        try:
            stopped = scope.inner(plan, frame)
        finally:
            world.maker.leave()
        frame = replace(frame, took=world.clock.tick() - begin)
        world.frames.append(frame)
        scope.say(FrameFinished(frame))
        if world.journal:
            world.journal.frame_ended(frame)
        point("frame.left")
        scope.stopped = scope.stopped or stopped
        return [one for one in world.listing[first:] if one.number not in world.apart]

    def _refused(self, target: Target, why: str, *, counts: bool) -> Sequence[Answer]:
        extra = {} if counts else {REFUSED: True}
        refused = self._stand_in(target, replace(not_run(why), extra=extra))
        return [refused] if counts else self._apart(target, refused)

    def _apart(self, target: Target, refused: Answer) -> Sequence[Answer]:
        """A refusal that is no failure of the caller; one that is failhard goes no further all the same."""
        if self.scope.is_failhard(self.answer.chunk):
            told = f"{self.answer.path} is marked failhard, and {target.title} was not rendered"
            self.scope.stopped = self.scope.stopped or told
        self.world.apart.add(refused.number)
        return []

    def _frame(self, target: Target, number: int, states: int) -> Frame:
        return Frame(
            path=self.world.used.path(target, self.answer.path, number),
            kind=target.kind,
            name=target.name,
            where=target.place(),
            depth=self.scope.depth + 1,
            caller=self.answer.number,
            parent=self.answer.tag,
            jid=self.world.next_jid(),
            parent_jid=self.scope.jid,
            first=self.world.number,
            states=states,
            scoped=target.words.scoped,
        )

    def _stand_in(self, target: Target, result: Result, *, reached: bool = True) -> Answer:
        """Record an answer that stands for a frame."""
        answer = Answer(
            chunk=stand_in(self.answer.chunk, target),
            result=result,
            number=self.scope.next_number(),
            timed=False,
            parent=self.answer.tag,
            under=self.answer.number,
            depth=self.scope.depth + 1,
            frame=self.answer.path,
        )
        self.world.listing.append(answer)
        if self.world.journal and reached:
            self.world.journal.stand_in(self.scope.path, self.at, answer)
        self.scope.say(ChunkFinished(answer))
        return answer
