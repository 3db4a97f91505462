"""``shape``: the steps of a leg as one letter each. Legs with the same shape share a row of a matrix. Pure.

A digest of the names of the steps follows the letters: systems of one run may have different plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from saltern.chains.statuses import Step
from saltern.fleet.chains.model import LegState

CHANGED = "c"
LETTERS: dict[str, str] = {
    Step.NOT_RUN.value: "n",
    Step.WAITING.value: "w",
    Step.RUNNING.value: "r",
    Step.SUCCEEDED.value: "o",
    Step.FAILED.value: "f",
    Step.TIMED_OUT.value: "t",
    Step.INDETERMINATE.value: "u",
    Step.SKIPPED.value: "s",
    Step.CANCELLED.value: "x",
}
WORDS: dict[str, str] = {letter: word for word, letter in LETTERS.items()} | {CHANGED: "changed"}
BAD = frozenset({"failed", "timed out", "indeterminate"})


def letter(status: str, *, changed: bool) -> str:
    """The letter of a step; a success that changed something has its own."""
    return CHANGED if changed and status == Step.SUCCEEDED.value else LETTERS[status]


def plan_mark(actions: Sequence[str]) -> str:
    """A mark that differs between plans."""
    return sha256("\n".join(actions).encode()).hexdigest()[:8]


def make_shape(letters: str, actions: Sequence[str]) -> str:
    return f"{letters}:{plan_mark(actions)}"


def shape_of(leg: LegState) -> str:
    letters = "".join(letter(step.status.value, changed=step.changed) for step in leg.steps)
    return make_shape(letters, [step.id for step in leg.plan])


def split_shape(shape: str) -> tuple[list[str], str]:
    """The statuses of the steps, and the mark of the plan."""
    letters, _, mark = shape.partition(":")
    return [*_words(letters)], mark


@lru_cache(maxsize=4096)  # a large run has few different ones, and pages are requested repeatedly
def _words(letters: str) -> tuple[str, ...]:
    return tuple([WORDS.get(one, "indeterminate") for one in letters])
