"""The status of a state in one word."""

from __future__ import annotations

from collections.abc import Iterator

from saltern.journal.codec import answer_in
from saltern.journal.run_state import RunState
from saltern.language.events import Answer
from saltern.language.requisites import Standing
from saltern.language.result import Outcome
from saltern.report.causes import blocked


def status_of(answer: Answer, standing: Standing | None = None) -> str:
    """One word: failed, blocked, would (change), changed, skipped or ok.

    ``standing`` is the outcome of a state with its sub states, if it has any.
    """
    result = answer.result
    came = standing or Standing(result.outcome, bool(result.changes))
    if came.outcome is Outcome.FAILED:
        return "blocked" if blocked(answer) else "failed"
    if came.outcome is Outcome.WOULD_CHANGE:
        return "would"
    return "changed" if came.changed else "ok" if result.ran else "skipped"


def steps_below(state: RunState, number: int) -> Iterator[Answer]:
    """All steps below a state, or below a step."""
    for body in state.steps.get(number, ()):
        yield answer_in(body)
        yield from steps_below(state, body["number"])
