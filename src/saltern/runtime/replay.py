"""Use the answers of an earlier process in a broken run, so that nothing is done again."""

from __future__ import annotations

from functools import cached_property

from saltern.language.barriers import Crossing
from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.requisites import Standing
from saltern.language.result import Outcome
from saltern.runtime.barriers import crossed_result
from saltern.runtime.chunk_runner import ChunkRunner
from saltern.runtime.interrupted_states import TAKEN, is_once, recover
from saltern.runtime.ports import Journal, KnownChunk, Past
from saltern.runtime.progress import Begun


class Replay:
    """One scope of a resumed run."""

    def __init__(self, runner: ChunkRunner, past: Past, journal: Journal) -> None:
        self._runner = runner
        self._scope = runner.scope
        self._past = past
        self._journal = journal

    def was_run(self, index: int) -> bool:
        """True if an earlier process has run this chunk; its remaining frames are run here."""
        known = self._known_chunk(index)
        if known is None:
            return False
        if known.crossing is not None:
            return self._cross(index, known, known.crossing)
        if known.answer is None:
            return self._recover(index, known)
        if known.suspect and self._is_lost(index, known):
            self._scope.progress_of(index).earlier = known.answer.number
            return False
        self._settle(index, known, known.answer)
        return True

    def failed_in_rehearsal(self, index: int) -> bool:
        """True if its rehearsal failed before the run broke: that is its answer."""
        known = self._known_chunk(index)
        if known is None or known.answer is None:
            return False
        changed = bool(known.answer.result.changes)
        self._scope.answers.rehearsed[index] = Standing(Outcome.FAILED, changed)
        return self.was_run(index)

    def was_answered(self, index: int) -> bool:
        """True if an earlier process has the answer of a chunk that this one did not reach."""
        known = self._known_chunk(index)
        if known is not None and known.started is not None:
            progress = self._scope.progress_of(index)
            progress.begun = progress.begun or known.started
        if known is None or known.answer is None:
            return False
        self._settle(index, known, known.answer)  # the run ends, so losses by a power failure are not checked
        return True

    def _known_chunk(self, index: int) -> KnownChunk | None:
        return self._past.known_chunk(self._scope.path, index, self._scope.plan.chunks[index])

    def _settle(self, index: int, known: KnownChunk, answer: Answer) -> None:
        scope, result = self._scope, known.result or answer.result
        scope.shared.listing.extend([*known.tried, *known.steps])
        scope.shared.forgive(known.tried)
        if index in scope.plan.groups and result.called:
            scope.groups_run.add(scope.plan.groups[index])
        self._runner.settle(index, answer, result, list(known.steps), replayed=True)

    def _cross(self, index: int, known: KnownChunk, crossing: Crossing) -> bool:
        """Conclude a chunk that requested a barrier, or prepare to call it again."""
        assert known.started is not None
        assert known.result is not None
        if crossing.when == "again" and not crossing.why:
            progress = self._scope.progress_of(index)
            progress.crossing = crossing
            if not crossing.fresh:
                return self._recover(index, known)
            progress.earlier = known.started.number
            return False
        self._scope.shared.listing.extend(known.steps)
        result = crossed_result(known.result, crossing)
        restart = self._rewind_clock if crossing.why else self._restart_clock
        self._runner.conclude(index, result, restart(known.started), list(known.steps))
        return True

    def _recover(self, index: int, known: KnownChunk) -> bool:
        """Decide what to do with a state whose call was interrupted."""
        scope, started = self._scope, known.started
        assert started is not None
        question = scope.options.resume_question
        result = recover(scope.plan.chunks[index], known.traces, scope.shared.caller, question)
        if result is None or result is TAKEN:
            progress = scope.progress_of(index)
            progress.earlier = started.number
            if result is TAKEN:
                progress.programs = started.started, known.traces.until
                self._past.reuse_programs(started.number)
            return False
        scope.shared.listing.extend(known.steps)  # everything known of what it did
        for step in known.steps:
            self._journal.step(step)
        self._runner.record(index, result, self._restart_clock(started))
        return True

    def _restart_clock(self, started: Begun) -> Begun:
        return Begun(started.number, started.started, self._scope.shared.clock.tick())

    def _rewind_clock(self, started: Begun) -> Begun:
        """Count the time since the call: a barrier that is not reached was waited for."""
        clock = self._scope.shared.clock
        return Begun(started.number, started.started, clock.tick() - max(0.0, clock.now() - started.started))

    def _is_lost(self, index: int, known: KnownChunk) -> bool:
        """True if a test call finds that a power loss has undone what it did.

        False if anything that may not be done twice came after it, which may have changed it on purpose.
        """
        scope, answer = self._scope, known.answer
        assert answer is not None
        chunk = scope.plan.chunks[index]
        if known.steps or index in scope.plan.groups or not self._is_repeatable(chunk):
            return False
        if answer.number < self._last_unrepeatable:
            return False
        registers = scope.answers.registers
        found = scope.executor.execute(chunk, test=True, rehearsal=True, registers=registers)
        return found.outcome is Outcome.WOULD_CHANGE

    @cached_property
    def _last_unrepeatable(self) -> int:
        """The number of the last state that may not be done twice."""
        numbers = [-1]
        for index, chunk in enumerate(self._scope.plan.chunks):
            known = None if self._is_repeatable(chunk) else self._known_chunk(index)
            if known is not None and known.started is not None:
                numbers.append(known.started.number)
            elif known is not None and known.answer is not None and known.answer.result.ran:
                numbers.append(known.answer.number)
        return max(numbers)

    def _is_repeatable(self, chunk: Chunk) -> bool:
        """True if a state may be called again; not a caller of delayed frames, whose content is unknown
        here.
        """
        return not (is_once(chunk, self._scope.shared.caller.nature) or chunk.delayed)
