"""``parallel: True``: chunks that run in parallel, and chunks that wait for them.

The rule: a parallel chunk that needs a running one is postponed, so that the others continue; any
other chunk waits for what it needs. The end of the run waits for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from saltern.language.requisites import When
from saltern.language.result import Result
from saltern.plan.plan import Plan, is_parallel
from saltern.runtime.answers import Answers
from saltern.runtime.pool import Pool


class Runner(Protocol):
    """Runs the chunks; ``chunk_runner.ChunkRunner``."""

    @property
    def stopped(self) -> str:
        """Why the run ends early; empty if it does not."""
        ...

    def answer(self, index: int) -> None:
        """Start a chunk."""
        ...

    def finish_parallel(self, index: int, result: Result) -> None:
        """Take the result of a chunk that has ended."""
        ...


class Parallel:
    """Runs at most ``most`` chunks at once; 0 is no limit."""

    def __init__(self, plan: Plan, answers: Answers, runner: Runner, *, most: int) -> None:
        self._plan = plan
        self._answers = answers
        self._pool = Pool(most)
        self._runner = runner
        self._postponed: list[int] = []

    @property
    def busy(self) -> bool:
        return bool(self._pool or self._postponed)

    def wait_for_place(self) -> None:
        """Wait until one more chunk may run."""
        while self._pool.full:
            self.reap(block=True)

    def start(self, index: int, work: Callable[[], Result]) -> None:
        self.wait_for_place()
        self._pool.start(index, work)

    def postpone(self, index: int) -> bool:
        """True if the chunk must wait; it is then started later."""
        if not is_parallel(self._plan, index) or not self._unfinished_needs(index):
            return False
        self._postponed.append(index)
        return True

    def reap(self, *, block: bool = False) -> None:
        """Take the results of chunks that have ended, and start chunks that waited for them."""
        for index, result in self._pool.collect_finished(block=block):
            self._runner.finish_parallel(index, result)
        for index in list(self._postponed):
            if not self._runner.stopped and index in self._postponed and not self._unfinished_needs(index):
                self._postponed.remove(index)
                self._runner.answer(index)

    def settle(self, index: int, *, rehearsal: bool = False) -> None:
        """Wait for everything that this chunk needs; start postponed chunks among them now."""
        stack = self._unfinished_needs(index, rehearsal=rehearsal)
        while stack and not self._runner.stopped:
            one = stack[-1]
            if self._answers.of[one] is not None:
                stack.pop()
            elif one in self._pool:
                self._runner.finish_parallel(one, self._pool.wait(one))
            elif deeper := self._unfinished_needs(one):
                stack += deeper
            else:
                if one in self._postponed:
                    self._postponed.remove(one)
                self._runner.answer(one)

    def drain(self) -> None:
        """Finish everything that was started or postponed."""
        while self._pool or (self._postponed and not self._runner.stopped):
            if self._pool:
                self.reap(block=True)
            else:
                self.settle(self._postponed[0])
                self.reap()

    def abandon(self) -> None:
        """End running chunks: the run is interrupted."""
        self._pool.kill()

    def _unfinished_needs(self, index: int, *, rehearsal: bool = False) -> list[int]:
        """The chunks it waits for that have not answered; members of joins one by one."""
        needs = self._plan.needs.get(index, ())
        steps = [need.on for need in needs if need.kind.when is not When.REHEARSED]
        if not rehearsal:
            steps += self._plan.preparers.get(index, ())
        indexes = (one for step in steps for one in self._plan.behind(step))
        return [one for one in indexes if self._answers.of[one] is None]
