"""The answers so far, as requisites read them.

They read the *effective* answer of a chunk: its own, combined with those of everything it spawned. The
reported result of the chunk stays what the function returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from saltern.language.events import Answer
from saltern.language.requisites import Standing, Vote
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Plan

_PLAIN = {(outcome, changed): Standing(outcome, changed) for outcome in Outcome for changed in (True, False)}


RESUMED = "resumed"  # in a result: called again after the run broke; its earlier changes are unknown


def combined_standing(answer: Answer, spawned: Iterable[Answer] = ()) -> Standing:
    """The combined standing: failed if any of them failed, changed if any changed."""
    outcome, changed = answer.result.outcome, bool(answer.result.changes) or RESUMED in answer.result.extra
    for one in spawned:
        changed = changed or bool(one.result.changes)
        if one.result.outcome is Outcome.FAILED:
            outcome = Outcome.FAILED
        elif one.result.outcome is Outcome.WOULD_CHANGE and outcome is Outcome.OK:
            outcome = Outcome.WOULD_CHANGE
    return _PLAIN[outcome, changed]


class Returned(Struct, frozen=True):
    """A registered return: the answer as reported, and the full result."""

    answer: Answer
    result: Result


Registers = Mapping[str, Returned]
NO_REGISTERS: Registers = {}


class Answers:
    """Answers by the index of the chunk in the plan."""

    def __init__(self, plan: Plan, listing: list[Answer] | None = None) -> None:
        self._plan = plan
        self._size = len(plan.chunks)
        self.of: list[Answer | None] = [None] * self._size
        self.standings: list[Standing | None] = [None] * self._size
        self.rehearsed: dict[int, Standing] = {}
        self.roots: dict[int, tuple[int, ...]] = {}  # a blocked chunk → the failures that blocked it
        self.below: dict[int, list[Answer]] = {}  # a caller → what failed in its frames
        self.registers: dict[str, Returned] = {}  # by the name that the state gave with `register`
        self.listing = [] if listing is None else listing  # all answers, including those of frames, by number
        self._failed: dict[int, list[int]] = {}
        self._cast: dict[tuple[int, Callable[[Standing], Vote]], frozenset[Vote]] = {}

    def record(self, index: int, answer: Answer) -> None:
        self.of[index] = answer
        self.standings[index] = combined_standing(answer)
        self.listing.append(answer)

    def roll_up(self, index: int, spawned: Sequence[Answer]) -> None:
        """Make what a chunk spawned count as its own for chunks that wait for it."""
        answer = self.of[index]
        assert answer is not None
        self.standings[index] = combined_standing(answer, spawned)
        self.below[index] = [one for one in spawned if one.result.outcome is Outcome.FAILED]

    def failed_below(self, index: int) -> list[str]:
        """The paths of failures below a chunk that itself succeeded."""
        answer = self.of[index]
        if answer is None or answer.result.outcome is Outcome.FAILED:
            return []
        return [one.path for one in self.below.get(index, [])]

    def by_tag(self) -> dict[str, Answer]:
        return {answer.chunk.tag: answer for answer in self.of if answer is not None}

    def effective(self, index: int) -> Standing:
        found = self.standings[index]
        assert found is not None, "read before it was answered: the sequence is wrong"
        return found

    def has_changed(self, index: int) -> bool:
        """True if the chunk has answered with changes."""
        found = self.standings[index]
        return found is not None and found.changed

    def votes(self, on: int, vote: Callable[[Standing], Vote]) -> frozenset[Vote]:
        """The votes of a join's members, counted once for all readers."""
        key = (on, vote)
        if key not in self._cast:
            members = self._plan.joins[on - self._size]
            self._cast[key] = frozenset(vote(self._standing_of(step)) for step in members)
        return self._cast[key]

    def failed_behind(self, on: int) -> list[int]:
        """The failed chunks that a step stands for; of a join, counted once for all readers."""
        if on < self._size:
            return [on] if self.effective(on).outcome is Outcome.FAILED else []
        if on not in self._failed:
            steps = [step for step in self._plan.joins[on - self._size] if self._has_failed(step)]
            self._failed[on] = [~step if step < 0 else step for step in steps]
        return self._failed[on]

    def _has_failed(self, step: int) -> bool:
        return self._standing_of(step).outcome is Outcome.FAILED

    def _standing_of(self, step: int) -> Standing:
        """The standing of a chunk, or of its rehearsal."""
        return self.rehearsed[~step] if step < 0 else self.effective(step)
