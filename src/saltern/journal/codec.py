"""Results, answers and frames as plain data, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saltern.journal.body import Body
from saltern.journal.chunk_codec import chunk_in, chunk_out
from saltern.journal.scope_codec import Scopes
from saltern.language.chunk import Chunk
from saltern.language.delayed import (
    Frame,
)
from saltern.language.events import Answer
from saltern.language.result import Outcome, Result
from saltern.language.source import Mark

_RESULT = ("comment", "changes", "data", "ran", "quiet", "called")
_ANSWER = ("number", "started", "took", "timed", "parallel", "parent", "under", "depth", "frame", "sub")
_FRAME = (
    "path",
    "kind",
    "name",
    "depth",
    "caller",
    "parent",
    "jid",
    "parent_jid",
    "first",
    "states",
    "scoped",
)


# -- results -------------------------------------------------------------------------------------------


def result_out(result: Result) -> Body:
    body: Body = {name: getattr(result, name) for name in _RESULT}
    body["outcome"] = result.outcome.value
    if result.warnings:
        body["warnings"] = result.warnings
    if result.extra:
        body["extra"] = dict(result.extra)
    if result.trace:
        body["trace"] = result.trace
    return body


def result_in(body: Body) -> Result:
    return Result(
        outcome=Outcome(body["outcome"]),
        warnings=tuple(body.get("warnings", ())),
        extra=body.get("extra", {}),
        trace=body.get("trace", ""),
        **{name: body[name] for name in _RESULT},
    )


def answer_out(answer: Answer, *, chunk: bool = False) -> Body:
    """An answer as data; with its ``chunk`` if that is not in a plan."""
    body: Body = {name: getattr(answer, name) for name in _ANSWER}
    body["result"] = result_out(answer.result)
    if chunk:
        body["chunk"] = chunk_out(answer.chunk, Scopes())
    return body


def brief(scope: str, index: int, answer: Answer) -> tuple[object, ...] | None:
    """An answer as a short row, if it has few fields, as most do; else None."""
    result = answer.result
    if (
        result.changes
        or result.outcome is not Outcome.OK
        or result.warnings
        or result.extra
        or result.quiet
        or not (result.ran and result.called and answer.timed)
        or answer.parallel
    ):
        return None
    return scope, index, answer.number, answer.started, answer.took, result.comment, result.data


def brief_in(row: Sequence[Any], frame: Body | None) -> Body:
    """The answer of a short row, with fields that are the same for all answers of a scope."""
    scope, index, number, started, took, comment, data = row
    said = {"comment": comment, "changes": {}, "data": data, "ran": True, "quiet": False, "called": True}
    inside = {"parent": frame["parent"], "under": frame["caller"], "depth": frame["depth"]} if frame else {}
    answer = {
        "number": number,
        "started": started,
        "took": took,
        "timed": True,
        "parallel": False,
        "parent": "",
        "under": -1,
        "depth": 0,
        "frame": scope,
        "sub": False,
        **inside,
        "result": {**said, "outcome": True},
    }
    return {"scope": scope, "place": index, "answer": answer}


def answer_in(body: Body, chunk: Chunk | None = None) -> Answer:
    known = chunk or chunk_in(body["chunk"], {}, [])
    return Answer(chunk=known, result=result_in(body["result"]), **{name: body[name] for name in _ANSWER})


def frame_out(frame: Frame) -> Body:
    return {**{name: getattr(frame, name) for name in _FRAME}, "where": _mark_out(frame.where)}


def frame_in(body: Body) -> Frame:
    return Frame(where=Mark(*body["where"]), **{name: body[name] for name in _FRAME})


# -- plans ---------------------------------------------------------------------------------------------


# -- delayed targets ----------------------------------------------------------------------------


def _mark_out(mark: Mark) -> tuple[str, int, int]:
    return mark.file, mark.line, mark.column
