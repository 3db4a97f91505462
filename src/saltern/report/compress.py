"""``state_compress_ids``: equal answers of one ID become one."""

from __future__ import annotations

from collections.abc import Container, Sequence

from msgspec.structs import replace

from saltern.language.events import Answer
from saltern.language.result import Outcome

Same = tuple[str, str, str, str, Outcome, bool, int]


def compress(answers: Sequence[Answer], alone: Container[int] = ()) -> list[Answer]:
    """Merge answers with the same type, ID, SLS and result, at the position of the first.

    Answers whose number is in ``alone``, and sub states, are not merged.
    """
    groups: dict[Same, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(_same(answer, answer.sub or answer.number in alone), []).append(answer)
    return [_merge_group(group) for group in groups.values()]


def _same(answer: Answer, alone: bool) -> Same:
    chunk, result = answer.chunk, answer.result
    number = answer.number if alone else -1
    return (answer.frame, chunk.state, chunk.id, chunk.sls, result.outcome, result.ran, number)


def _merge_group(group: list[Answer]) -> Answer:
    if len(group) == 1:
        return group[0]
    first = group[0]
    title = f"{first.chunk.id} ({len(group)})"
    return replace(
        first,
        chunk=replace(first.chunk, id=title, name=title),
        result=replace(
            first.result,
            comment="\n".join(dict.fromkeys(answer.result.comment for answer in group)),
            changes={answer.chunk.name: answer.result.changes for answer in group if answer.result.changes},
            warnings=tuple(dict.fromkeys(text for answer in group for text in answer.result.warnings)),
        ),
        number=min(answer.number for answer in group),
        started=min((answer.started for answer in group if answer.timed), default=0.0),
        took=sum(answer.took for answer in group),
        timed=any(answer.timed for answer in group),
    )
