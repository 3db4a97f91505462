"""One scope of a run: the run itself, or one delayed frame."""

from __future__ import annotations

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import Answer, Event
from saltern.language.result import Result
from saltern.plan.plan import Plan
from saltern.runtime.answers import Answers
from saltern.runtime.execute import Executor
from saltern.runtime.progress import Begun, Progress
from saltern.runtime.run_shared import RunShared


class Scope:
    """The plan of a scope, its answers so far, and the chunks in progress.

    ``progress`` has these by index; a reacting listener by the complement of its index.
    """

    def __init__(self, plan: Plan, shared: RunShared, frame: Frame | None) -> None:
        self.plan = plan
        self.shared = shared
        self.options = shared.options
        self.executor = Executor(shared.caller, shared.clock, shared.options.allowed)
        self.answers = Answers(plan, shared.listing)
        self.path = frame.path if frame else ""
        self.depth = frame.depth if frame else 0
        self.parent = frame.parent if frame else ""
        self.under = frame.caller if frame else -1
        self.jid = frame.jid if frame else ""
        self.progress: dict[int, Progress] = {}
        self.groups_run: set[tuple[int, ...]] = set()  # aggregated groups whose first member has run
        self.stopped = ""  # why the scope ends early

    def run_frame(self, plan: Plan, frame: Frame) -> str:
        """Run a delayed frame of this scope; return why it ended early, or an empty text. See
        ``loop.ScopeRun``.
        """
        raise NotImplementedError

    def progress_of(self, index: int) -> Progress:
        """The progress of a chunk, recorded from here on."""
        found = self.progress.get(index)
        if found is None:
            found = self.progress[index] = Progress()
        return found

    def next_number(self) -> int:
        self.shared.number += 1
        return self.shared.number - 1

    def say(self, event: Event) -> None:
        if self.shared.on_event:
            self.shared.on_event(event)

    def is_failhard(self, chunk: Chunk) -> bool:
        if self.options.test:
            return False
        return bool(chunk.args["failhard"]) if "failhard" in chunk.words else self.options.failhard

    def make_answer(
        self, chunk: Chunk, result: Result, begun: Begun, *, timed: bool = True, parallel: bool = False
    ) -> Answer:
        """An answer of this scope; its time is taken now."""
        return Answer(
            chunk=chunk,
            result=result,
            number=begun.number,
            started=begun.started,
            took=self.shared.clock.tick() - begun.tick if timed else 0.0,
            timed=timed,
            parallel=parallel,
            parent=self.parent,
            under=self.under,
            depth=self.depth,
            frame=self.path,
        )
