"""What an earlier process has done of a run that broke: taken over, not done again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from saltern.language.barriers import Crossing
from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.requisites import Standing
from saltern.language.result import Outcome
from saltern.runtime.barriers import landed
from saltern.runtime.interrupted_states import TAKEN, is_once, recovered
from saltern.runtime.ports import Journal, Known
from saltern.runtime.run_shared import Begun

if TYPE_CHECKING:
    from saltern.runtime.loop import ScopeRun


class Before:
    """One scope of a run that is taken up again."""

    def __init__(self, run: ScopeRun, journal: Journal) -> None:
        self._run = run
        self._journal = journal

    def known(self, index: int) -> Known | None:
        run = self._run
        return self._journal.known(run.path, index, run.plan.chunks[index])

    def replayed(self, index: int) -> bool:
        """Whether an earlier process has done with it; what it had still to render goes on here."""
        run, known = self._run, self.known(index)
        if known is None:
            return False
        if known.crossing is not None:
            return self._arrived(index, known, known.crossing)
        if known.answer is None:
            return self._doubted(index, known)
        if known.suspect and self._is_gone(index, known):
            run.again[index] = known.answer.number
            return False
        self._take_over(index, known, known.answer)
        return True

    def _take_over(self, index: int, known: Known, answer: Answer) -> None:
        run, result = self._run, known.result or answer.result
        run.world.listing.extend([*known.tried, *known.steps])
        run.world.forgive(known.tried)
        if index in run.plan.groups and result.called:
            run.gone.add(run.plan.groups[index])
        run.settle(index, answer, result, list(known.steps), replayed=True)

    def failed_in_rehearsal(self, index: int) -> bool:
        """Whether its rehearsal has failed before the run broke: then it has answered."""
        known = self.known(index)
        if known is None or known.answer is None:
            return False
        self._run.answers.rehearsed[index] = Standing(Outcome.FAILED, bool(known.answer.result.changes))
        return self.replayed(index)

    def came_further(self, index: int) -> bool:
        """Whether an earlier process has its answer, in what runs beside the others."""
        known = self.known(index)
        if known is not None and known.started is not None:
            self._run.begun.setdefault(index, known.started)
        if known is None or known.answer is None:
            return False
        self._take_over(index, known, known.answer)  # the run ends: nobody asks whether it is still so
        return True

    def _arrived(self, index: int, known: Known, crossing: Crossing) -> bool:
        """It had asked for a barrier, and this is the other side."""
        run = self._run
        assert known.started is not None
        assert known.result is not None
        if crossing.when == "again" and not crossing.why:
            run.crossings[index] = crossing
            if not crossing.fresh:
                return self._doubted(index, known)
            run.again[index] = known.started.number
            return False
        begun = Begun(known.started.number, known.started.started, run.clock.tick())
        run.world.listing.extend(known.steps)
        run.conclude(index, landed(known.result, crossing), begun, list(known.steps))
        return True

    def _is_gone(self, index: int, known: Known) -> bool:
        """Whether what it had done went with the power: it is asked in test mode.

        Not if anything came after it that may not be done twice: that may have changed it on purpose.
        """
        run, answer = self._run, known.answer
        assert answer is not None
        chunk = run.plan.chunks[index]
        if (
            known.steps
            or index in run.plan.groups
            or not self._repeatable(chunk)
            or answer.number < self._firm
        ):
            return False
        found = run.executor.execute(chunk, test=True, rehearsal=True, registers=run.answers.registers)
        return found.outcome is Outcome.WOULD_CHANGE

    @cached_property
    def _firm(self) -> int:
        """The number of the last that may not be done twice."""
        numbers = [-1]
        for index, chunk in enumerate(self._run.plan.chunks):
            known = None if self._repeatable(chunk) else self.known(index)
            if known is not None and known.started is not None:
                numbers.append(known.started.number)
            elif known is not None and known.answer is not None and known.answer.result.ran:
                numbers.append(known.answer.number)
        return max(numbers)

    def _doubted(self, index: int, known: Known) -> bool:
        """It was being called when the run broke."""
        run = self._run
        assert known.started is not None
        number = known.started.number
        result = recovered(run.plan.chunks[index], known.traces, run.caller)
        if result is None:
            run.again[index] = number
            return False
        if result is TAKEN:
            run.again[index] = number
            run.taken.add(index)
            run.spans[index] = known.started.started, known.traces.until
            self._journal.retake(number)
            return False
        begun = Begun(known.started.number, known.started.started, run.clock.tick())
        run.world.listing.extend(known.steps)  # all that is known of what it did
        for step in known.steps:
            self._journal.step(step)
        run.record(index, result, begun)
        return True

    def _repeatable(self, chunk: Chunk) -> bool:
        """What a frame holds is not looked at from here."""
        return not (is_once(chunk, self._run.caller.nature) or chunk.delayed)
