"""Sub states: the steps that a state reports while it runs, each an answer below its parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.events import Answer, ChunkFinished, tag_in
from saltern.language.hidden import shown_result
from saltern.language.requisites import WORST_FIRST, Standing
from saltern.language.result import Outcome, Result, SubResult
from saltern.runtime.post_call import events
from saltern.runtime.scope import Scope
from saltern.system.faults import point

MOST_NAMED = 3


class SubStates(Struct):
    """Takes each step of a state as it happens. ``answers`` are those of the last attempt."""

    _scope: Scope
    _parent: Chunk
    _number: int
    answers: list[Answer] = []  # msgspec makes a new list for each

    def add(self, step: SubResult) -> None:
        """Number a step and the steps below it, record them and report them."""
        self._add(step, tag_in(self._parent, self._scope.path), self._number, 1)

    def start_again(self) -> None:
        """Begin another attempt: earlier answers do not count."""
        self._scope.shared.forgive(self.answers)
        if self.answers and self._scope.shared.journal:
            self._scope.shared.journal.tried(self._number)
        self.answers = []

    def _add(self, step: SubResult, parent: str, under: int, level: int) -> None:
        scope = self._scope
        chunk = _chunk(_strip_name(step) if self._parent.hidden else step, self._parent)
        answer = Answer(
            chunk=chunk,
            result=shown_result(self._parent, _result(step)),
            number=scope.next_number(),
            started=step.started,
            took=step.took,
            timed=step.timed,
            parent=parent,
            under=under,
            depth=scope.depth + level,
            frame=scope.path,
            sub=True,
        )
        self.answers.append(answer)
        scope.shared.listing.append(answer)
        if scope.shared.journal:
            scope.shared.journal.step(answer)
        point("step.reported")
        scope.say(ChunkFinished(answer))
        for event in events(answer, every=scope.shared.options.events):
            scope.say(event)
        for inner in step.sub:
            self._add(inner, answer.tag, answer.number, level + 1)


def _chunk(step: SubResult, parent: Chunk) -> Chunk:
    """The chunk of a step, which is not in the user's files: its position is that of its parent."""
    return Chunk(
        state=step.state or parent.state,
        fun=step.fun or parent.fun,
        id=step.id or step.name,
        name=step.name or step.id,
        order=parent.order,
        args={},
        declared=parent.declared,
    )


def _strip_name(step: SubResult) -> SubResult:
    """The step without its name, which may contain hidden data: for ``no_log`` of the parent."""
    return SubResult(name=HIDDEN, outcome=step.outcome)


def _result(step: SubResult) -> Result:
    return Result(
        outcome=step.outcome,
        comment=step.comment,
        changes=step.changes,
        data=step.data,
        warnings=step.warnings,
        ran=step.ran,
    )


def add_contradiction(result: Result, steps: list[Answer]) -> Result:
    """The parent's own result, with a warning where one of its steps contradicts it."""
    wrong = [one.chunk.id for one in steps if one.result.outcome is Outcome.FAILED]
    if wrong and result.outcome is not Outcome.FAILED:
        more = " …" if len(wrong) > MOST_NAMED else ""
        warning = f"engine said ok, {', '.join(wrong[:MOST_NAMED])}{more} failed"
        result = replace(result, warnings=(*result.warnings, warning))
    return replace(result, sub=()) if result.sub else result


def effective(result: Result, emitted: Iterable[Answer] = ()) -> Standing:
    """The combined result of a state and its steps: reported ones, and those in its result."""
    seen = [(one.result.outcome, bool(one.result.changes)) for one in emitted]
    seen += [(one.outcome, bool(one.changes)) for one in _all(result.sub)]
    outcomes = {outcome for outcome, _ in seen} | {result.outcome}
    worst = next(one for one in WORST_FIRST if one in outcomes)
    return Standing(worst, bool(result.changes) or any(changed for _, changed in seen))


def _all(steps: Iterable[SubResult]) -> Iterator[SubResult]:
    for step in steps:
        yield step
        yield from _all(step.sub)
