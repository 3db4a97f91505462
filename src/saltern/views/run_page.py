"""The page of a run: states, frames and sub states as a tree, with times, changes and diffs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from saltern.journal.chunk_codec import chunks_in
from saltern.journal.report import report_of
from saltern.journal.run_state import RunState
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Answer, Report, in_order
from saltern.language.hidden import shown_chunk
from saltern.plan.make import make_plan
from saltern.report.causes import assign
from saltern.report.plain import plain
from saltern.report.verdict import totals, with_steps
from saltern.views.assets import page
from saltern.views.run_status import status_of

Row = dict[str, object]


def run_page(state: RunState) -> str:
    report = report_of(state)
    jid = report.jid or "of unknown number"
    return page("run", title=f"run {jid}", data=run_data(state, report))


def run_data(state: RunState, report: Report) -> dict[str, object]:
    """What the page shows; ``rows`` are in the order of the tree, each with its level."""
    request: dict[str, Any] = state.head.get("request") or {}
    settings: dict[str, Any] = state.head.get("settings") or {}
    times = [answer.started for answer in report.answers if answer.has_start and answer.started]
    begun = min([*times, state.head.get("started") or float("inf")], default=0.0)
    begun = 0.0 if begun == float("inf") else begun
    last = max(
        (answer.started + answer.took - begun for answer in report.answers if answer.has_start), default=0.0
    )
    return {
        "jid": report.jid,
        "status": state.status,
        "stopped": report.stopped,
        "asked": " ".join(request.get("sls") or []) or "highstate",
        "test": bool(settings.get("test")),
        "id": settings.get("id") or "",
        "version": state.head.get("version", ""),
        "started": begun,
        "took": max(report.took, last),
        "resumed": state.resumed,
        "totals": to_builtins(totals(report)) | {"total": totals(report).total},
        "rows": list(_Rows(report, begun, _unreached_rows(state)).scope(-1, "", 0)),
    }


def _unreached_rows(state: RunState) -> dict[str, list[Row]]:
    """The states without an answer, by scope: the run broke or was ended before them."""
    if (state.head.get("request") or {}).get(
        "id"
    ):  # the run was for one ID; the other states were not included
        return {}
    rows: dict[str, list[Row]] = {}
    for path, scope in state.scopes.items():
        if scope.plan:
            chunks = chunks_in(scope.plan, state.sources)
            left = [index for index in range(len(chunks)) if index not in scope.done]
            if left:
                order = make_plan(chunks, scope.plan["rendered"], Diagnostics()).sequence
                left.sort(key=order.index)
            rows[path] = [_waiting_row(chunks[index], index in scope.started) for index in left]
    return rows


def _waiting_row(chunk: Chunk, begun: bool) -> Row:
    comment = "It was running when the run broke." if begun else ""
    status = "begun" if begun else "waiting"
    return {"kind": "state", **_about(chunk), "status": status, "comment": comment}


def _about(written: Chunk) -> Row:
    chunk = shown_chunk(written)
    return {
        "title": chunk.id,
        "name": chunk.name if chunk.name != chunk.id else "",
        "function": chunk.function,
        "sls": chunk.sls,
        "where": str(chunk.mark()),
    }


class _Rows:
    def __init__(self, report: Report, begun: float, unreached: dict[str, list[Row]]) -> None:
        self._begun, self._unreached = begun, unreached
        self._came = with_steps(report.answers, report.forgiven)
        self._blame = assign(in_order(report.answers))
        self._under: dict[int, list[Answer]] = {}
        self._frames: dict[int, list[Frame]] = {}
        for answer in in_order(report.answers):
            self._under.setdefault(answer.under, []).append(answer)
        for frame in report.frames:
            self._frames.setdefault(frame.caller, []).append(frame)

    def scope(self, number: int, frame: str, level: int) -> Iterator[Row]:
        """The rows of one frame below a caller; the states of the run itself have no caller."""
        for answer in self._under.get(number, ()):
            if answer.frame == frame and not answer.sub:
                yield from self.answer(answer, level)
        for row in self._unreached.get(frame, ()):
            yield {**row, "level": level}

    def answer(self, answer: Answer, level: int) -> Iterator[Row]:
        yield self._row(answer, level)
        known = {frame.path for frame in self._frames.get(answer.number, ())}
        for step in self._under.get(answer.number, ()):
            if step.sub or (step.frame not in known):
                yield from self.answer(step, level + 1)
        for frame in self._frames.get(answer.number, ()):
            yield from self.frame(frame, level + 1)

    def frame(self, frame: Frame, level: int) -> Iterator[Row]:
        yield {
            "kind": "frame",
            "level": level,
            "title": f"{frame.kind} {frame.name}",
            "where": str(frame.where),
            "path": frame.path,
            "states": frame.states,
        }
        yield from self.scope(frame.caller, frame.path, level + 1)

    def _row(self, answer: Answer, level: int) -> Row:
        chunk, result = answer.chunk, answer.result
        row: Row = {
            "kind": "sub" if answer.sub else "state",
            "level": level,
            "number": answer.number,
            **_about(chunk),
            "status": status_of(answer, self._came.get(answer.number)),
            "comment": result.comment,
            "changes": plain(result.changes),
            "warnings": list(result.warnings),
        }
        if answer.sub:
            row["where"] = ""  # that of its state
        if answer.number in self._blame.causes:
            row["cause"] = self._blame.causes[answer.number]
        if answer.number in self._blame.victims:
            row["victims"] = len(self._blame.victims[answer.number])
        if answer.has_start and answer.started:
            row["start"] = max(answer.started - self._begun, 0.0)
        if answer.timed:
            row["took"] = answer.took
        if answer.parallel:
            row["parallel"] = True
        return row
