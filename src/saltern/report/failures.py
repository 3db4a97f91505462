"""The end of a long report: which states failed, why, and which were not run because of them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from saltern.language.events import Answer
from saltern.language.result import Outcome
from saltern.report.blocks import place
from saltern.report.causes import Blame
from saltern.report.text import cut, safe_line

MOST = 30  # readers do not read more; `saltern report` has all


def failures(
    answers: Sequence[Answer], blame: Blame, forgiven: Container[int], width: int = 0
) -> Iterator[str]:
    """A line for each failure that no other one has caused, and a line for the states that it has blocked."""
    guilty = [
        answer
        for answer in answers
        if answer.result.outcome is Outcome.FAILED
        and answer.number not in blame.hidden
        and answer.number not in forgiven
    ]
    if not guilty:
        return
    yield ""
    yield "Failures"
    yield "--------"
    for answer in guilty[:MOST]:
        for line in _lines(answer, blame):
            yield cut(line, width - 1) if width else line
    if len(guilty) > MOST:
        yield f"… and {len(guilty) - MOST} more: `saltern report --html -o FILE` has all of them"


def _lines(answer: Answer, blame: Blame) -> Iterator[str]:
    chunk = answer.chunk
    why = answer.result.comment.strip().partition("\n")[0]
    yield safe_line(f"{chunk.function} {answer.path}: {why}" if why else f"{chunk.function} {answer.path}")
    if where := place(answer):
        yield f"    {where}"
    if note := blame.note(answer):
        yield f"    {safe_line(note)}"
