"""Render and run the delayed targets of a caller, in turn, once its own answer is final."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame, Target
from saltern.language.events import Answer, ChunkFinished, FrameFinished, FrameStarted
from saltern.language.result import Outcome, Result, failed
from saltern.language.result import blocked as not_run
from saltern.plan.plan import Plan
from saltern.runtime.answers import combined_standing
from saltern.runtime.barriers import INTERRUPTED, PAUSES, STOPS, not_yet
from saltern.runtime.frame_policy import FATES, Fate, came, placeholder, refusal, stand_in
from saltern.runtime.ports import Call, EarlierReturns, Unrendered
from saltern.runtime.scope import Scope
from saltern.system.faults import point

REFUSED = "refused"  # in a result: over the repeat limit, which does not fail its caller


class Delayed:
    """``result`` is the caller's full result; its ``answer`` may hide parts of it from the report.

    ``steps`` are the answers of its sub states.
    """

    def __init__(self, scope: Scope, answer: Answer, result: Result, steps: Sequence[Answer] = ()) -> None:
        self.scope = scope
        self.shared = scope.shared
        self.answer = answer
        self.result = result
        self.steps = steps
        self.returns = EarlierReturns()
        self.known = self._complete_answer()
        self.at = 0  # the index of the target that is due

    def _complete_answer(self) -> Answer:
        """The answer for targets rendered after it: with the caller's actual name and contexts."""
        chunk = self.answer.chunk
        if not chunk.late:
            return self.answer
        from saltern.runtime.late import filled_in

        filled = filled_in(chunk, self.scope.answers.registers, test=False)
        return replace(self.answer, chunk=filled) if isinstance(filled, Chunk) else self.answer

    def run_all(self) -> list[Answer]:
        """Render and run each target; return the answers that count for chunks that wait for the caller."""
        counted: list[Answer] = []
        state = came(self.result, combined_standing(self.answer, self.steps), test=self.shared.options.test)
        for at, target in enumerate(self.known.chunk.delayed):
            self.at = at
            fate = FATES[target.when][state]
            paused = self.scope.stopped in PAUSES
            if not paused and (before := self._replay(target)) is not None:
                counted += before
                if fate is Fate.RENDER:
                    self._end_if_failed(before)
            elif self.scope.stopped:
                counted.append(self._unreached_answer(target))
            elif fate is Fate.RENDER:
                came_to = self._render(target, counted)
                counted += came_to
                self._end_if_failed(came_to)
            else:
                result = placeholder(fate, state, self.answer.chunk, self.result)
                counted.append(self._stand_in(target, result))
        return counted

    def _end_if_failed(self, came_to: Sequence[Answer]) -> None:
        """Stop rendering for a caller that is marked failhard after one of its targets has failed."""
        chunk = self.answer.chunk
        if any(one.result.outcome is Outcome.FAILED for one in came_to) and self.scope.is_failhard(chunk):
            why = f"{chunk.sls}.{chunk.label} failed and is marked failhard"
            self.scope.stopped = self.scope.stopped or why

    def report_unreached(self) -> None:
        for target in self.answer.chunk.delayed:
            self._unreached_answer(target)

    def _unreached_answer(self, target: Target) -> Answer:
        why, stopped = PAUSES.get(self.scope.stopped, "failhard"), self.scope.stopped
        result = (
            not_yet(stopped) if stopped in STOPS.values() else not_run(f"not rendered ({why}): {stopped}")
        )
        return self._stand_in(target, result, reached=False)

    def _render(self, target: Target, earlier: Sequence[Answer]) -> Sequence[Answer]:
        """Render and run one frame, unless it exceeds a limit."""
        shared, scope, path = self.shared, self.scope, self.answer.path
        why, counts = refusal(target, path, scope.depth + 1, shared.used, shared.options.bounds)
        if why:
            return self._refuse(target, why, counts=counts)
        assert shared.maker is not None, "a plan with callers was run without a renderer"
        number = shared.used.take(target, path)
        begin = shared.clock.tick()
        try:
            plan = shared.maker.make(
                Call(
                    target=target,
                    answer=self.known,
                    result=self.result,
                    steps=self.steps,
                    earlier=earlier,
                    returns=self.returns,
                )
            )
        except Unrendered as problem:
            return [self._stand_in(target, failed(str(problem)))]
        except KeyboardInterrupt:
            scope.stopped = INTERRUPTED
            return [self._unreached_answer(target)]
        frame = self._frame(target, number, len(plan.chunks))
        point("frame.made")
        if shared.journal:
            shared.journal.frame(scope.path, self.at, frame, plan)
        return self._run(plan, frame, begin)

    def _replay(self, target: Target) -> Sequence[Answer] | None:
        """What an earlier process made of this target; a frame that it began is continued here."""
        shared, scope, number = self.shared, self.scope, self.answer.number
        if shared.past is None:
            return None
        answer = shared.past.stand_in(scope.path, number, self.at)
        if answer is not None:
            shared.listing.append(answer)
            if REFUSED in answer.result.extra:
                return self._apart(target, answer)
            if answer.result.ran:  # a target that could not be rendered counts as rendered
                shared.used.take(target, self.answer.path)
            return [answer]
        frame = shared.past.frame(scope.path, number, self.at)
        if frame is None:
            return None
        assert shared.maker is not None
        shared.used.take(target, self.answer.path)
        shared.used.paths.add(frame[0].path)
        shared.maker.enter(frame[1])
        return self._run(frame[1], frame[0], shared.clock.tick())

    def _run(self, plan: Plan, frame: Frame, begin: float) -> Sequence[Answer]:
        shared, scope = self.shared, self.scope
        assert shared.maker is not None
        point("frame.entered")
        scope.say(FrameStarted(frame, plan.answer_chunks()))
        first = len(shared.listing)
        try:
            stopped = scope.run_frame(plan, frame)
        finally:
            shared.maker.leave()
        frame = replace(frame, took=shared.clock.tick() - begin)
        shared.frames.append(frame)
        scope.say(FrameFinished(frame))
        if shared.journal:
            shared.journal.frame_ended(frame)
        point("frame.left")
        scope.stopped = scope.stopped or stopped
        return [one for one in shared.listing[first:] if one.number not in shared.apart]

    def _refuse(self, target: Target, why: str, *, counts: bool) -> Sequence[Answer]:
        extra = {} if counts else {REFUSED: True}
        refused = self._stand_in(target, replace(not_run(why), extra=extra))
        return [refused] if counts else self._apart(target, refused)

    def _apart(self, target: Target, refused: Answer) -> Sequence[Answer]:
        """A refusal that does not fail the caller; one that is failhard stops all the same."""
        if self.scope.is_failhard(self.answer.chunk):
            why = f"{self.answer.path} is marked failhard, and {target.title} was not rendered"
            self.scope.stopped = self.scope.stopped or why
        self.shared.apart.add(refused.number)
        return []

    def _frame(self, target: Target, number: int, states: int) -> Frame:
        return Frame(
            path=self.shared.used.path(target, self.answer.path, number),
            kind=target.kind,
            name=target.name,
            where=target.place(),
            depth=self.scope.depth + 1,
            caller=self.answer.number,
            parent=self.answer.tag,
            jid=self.shared.next_jid(),
            parent_jid=self.scope.jid,
            first=self.shared.number,
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
        self.shared.listing.append(answer)
        if self.shared.journal and reached:
            self.shared.journal.stand_in(self.scope.path, self.at, answer)
        self.scope.say(ChunkFinished(answer))
        return answer
