"""What has been answered so far, as requisites read it.

They read the *effective* answer of a chunk: its own, and those of everything it spawned. The chunk's
own reported result stays what the function said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from saltern.language.events import Answer
from saltern.language.requisites import Standing, Vote
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Plan

_PLAIN = {(outcome, changed): Standing(outcome, changed) for outcome in Outcome for changed in (True, False)}


RESUMED = "resumed"  # in a result: called again after the run broke; who knows what it changed before


def standing(answer: Answer, spawned: Iterable[Answer] = ()) -> Standing:
    """One failure among all of them is a failure; one change is a change."""
    outcome, changed = answer.result.outcome, bool(answer.result.changes) or RESUMED in answer.result.extra
    for one in spawned:
        changed = changed or bool(one.result.changes)
        if one.result.outcome is Outcome.FAILED:
            outcome = Outcome.FAILED
        elif one.result.outcome is Outcome.WOULD_CHANGE and outcome is Outcome.OK:
            outcome = Outcome.WOULD_CHANGE
    return _PLAIN[outcome, changed]


class Returned(Struct, frozen=True):
    """A registered return: the answer as it is reported, and the result with all it knows."""

    answer: Answer
    result: Result


Registers = Mapping[str, Returned]
NO_REGISTERS: Registers = {}


class Answers:
    """By the chunk's index in the plan."""

    def __init__(self, plan: Plan, listing: list[Answer] | None = None) -> None:
        self._plan = plan
        self._size = len(plan.chunks)
        self.of: list[Answer | None] = [None] * self._size
        self.standings: list[Standing | None] = [None] * self._size
        self.rehearsed: dict[int, Standing] = {}
        self.roots: dict[int, tuple[int, ...]] = {}  # a blocked chunk → the failures that blocked it
        self.below: dict[int, list[Answer]] = {}  # a caller → what failed in its frames
        self.registers: dict[str, Returned] = {}  # by the name a state gave itself with `register`
        self.listing = [] if listing is None else listing  # everything, also of frames, in order of numbers
        self._failed: dict[int, list[int]] = {}
        self._cast: dict[tuple[int, Callable[[Standing], Vote]], frozenset[Vote]] = {}

    def record(self, index: int, answer: Answer) -> None:
        self.of[index] = answer
        self.standings[index] = standing(answer)
        self.listing.append(answer)

    def roll_up(self, index: int, spawned: Sequence[Answer]) -> None:
        """What a chunk has spawned counts as its own for all who wait for it."""
        answer = self.of[index]
        assert answer is not None
        self.standings[index] = standing(answer, spawned)
        self.below[index] = [one for one in spawned if one.result.outcome is Outcome.FAILED]

    def failed_below(self, index: int) -> list[str]:
        """Of a chunk that is well itself: the paths of what has failed below it."""
        answer = self.of[index]
        if answer is None or answer.result.outcome is Outcome.FAILED:
            return []
        return [one.path for one in self.below.get(index, [])]

    def by_tag(self) -> dict[str, Answer]:
        return {answer.chunk.tag: answer for answer in self.of if answer is not None}

    def effective(self, index: int) -> Standing:
        found = self.standings[index]
        assert found is not None, "asked before it was answered: the sequence is wrong"
        return found

    def has_changed(self, index: int) -> bool:
        """False of one that has not answered."""
        found = self.standings[index]
        return found is not None and found.changed

    def votes(self, on: int, vote: Callable[[Standing], Vote]) -> frozenset[Vote]:
        """What a join's members say; asked by many, counted once."""
        key = (on, vote)
        if key not in self._cast:
            members = self._plan.joins[on - self._size]
            self._cast[key] = frozenset(vote(self._standing(step)) for step in members)
        return self._cast[key]

    def failed_behind(self, on: int) -> list[int]:
        """The failed chunks that a step stands for; of a join, counted once however many ask."""
        if on < self._size:
            return [on] if self.effective(on).outcome is Outcome.FAILED else []
        if on not in self._failed:
            steps = [step for step in self._plan.joins[on - self._size] if self._has_failed(step)]
            self._failed[on] = [~step if step < 0 else step for step in steps]
        return self._failed[on]

    def _has_failed(self, step: int) -> bool:
        return self._standing(step).outcome is Outcome.FAILED

    def _standing(self, step: int) -> Standing:
        """Of a chunk, or of its rehearsal."""
        return self.rehearsed[~step] if step < 0 else self.effective(step)
