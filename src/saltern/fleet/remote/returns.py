"""The answer of a system for the states of an orchestration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.fleet.view.outcomes import strip_label
from saltern.language.events import Answer
from saltern.language.result import SubResult
from saltern.language.returner_names import split_failures
from saltern.modules.api.orchestration import SystemReturn
from saltern.report.from_salt import from_dict, is_states

Row = Mapping[str, Any]
AWAY = "it is away"
ENDED = {"expired": "it did not take the job in time", "indeterminate": "the result is unknown"}


def return_of(function: str, row: Row, *, has_body: bool) -> SystemReturn:
    """The return of a system, from its row in the API."""
    value = strip_label(function, row.get("body")) if has_body else None
    states = sub_states(value) if has_body and is_states(value) and value else ()
    is_ok = row["status"] == "returned" and not row["exit_code"]
    why, warnings = split_failures(row["why"])
    return SystemReturn(
        system=row["system"],
        is_ok=is_ok,
        value=value,
        has_value=has_body,
        exit_code=row["exit_code"],
        why="" if is_ok else _why({**row, "why": why}, value, states),
        steps=states,
        warnings=warnings,
    )


def away(system: str) -> SystemReturn:
    """The return for a system that was away."""
    return SystemReturn(system=system, is_ok=False, why=AWAY, is_away=True)


def _why(row: Row, value: object, states: tuple[SubResult, ...]) -> str:
    """Why it is a failure, in one text; states that failed say so themselves."""
    if row["why"]:
        return f"{row['status']}: {row['why']}" if row["status"] in ENDED else str(row["why"])
    if states:
        bad = [step.id for step in states if step.outcome.value is False]
        return f"failed: {', '.join(bad)}" if bad else "failed"
    if isinstance(value, list) and value:
        return "\n".join(map(str, value))
    return ENDED.get(row["status"], str(row["status"]))


def sub_states(value: Any) -> tuple[SubResult, ...]:
    """The states of a return, each with its sub states."""
    answers = from_dict(value).answers
    below: dict[int, list[Answer]] = {}
    known = {one.number for one in answers}
    for one in answers:
        below.setdefault(one.under if one.under in known and one.under != one.number else -1, []).append(one)
    return tuple(_step(one, below) for one in below.get(-1, ()))


def _step(answer: Answer, below: Mapping[int, list[Answer]]) -> SubResult:
    chunk, result = answer.chunk, answer.result
    return SubResult(
        name=chunk.name,
        id=chunk.id,
        state=chunk.state,
        fun=chunk.fun,
        outcome=result.outcome,
        comment=result.comment,
        changes=result.changes,
        data=result.data,
        warnings=result.warnings,
        ran=result.ran,
        started=answer.started,
        took=answer.took,
        timed=answer.timed,
        sub=tuple(_step(one, below) for one in below.get(answer.number, ())),
    )
