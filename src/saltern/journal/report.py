"""Make the report of a run from its journal."""

from __future__ import annotations

from saltern.config.settings import commits_of
from saltern.journal.chunk_codec import chunks_in
from saltern.journal.codec import answer_in, frame_in
from saltern.journal.run_state import RunState
from saltern.language.events import Answer, Report
from saltern.language.hidden import shown_answer
from saltern.runtime.barriers import STOPS


def report_of(state: RunState) -> Report:
    """All known answers; a broken run has fewer answers than its plan has states."""
    answers: list[Answer] = []
    for scope in state.scopes.values():
        chunks = chunks_in(scope.plan, state.sources) if scope.plan else []
        answers += [answer_in(body["answer"], chunks[index]) for index, body in scope.done.items()]
        answers += [answer_in(body["answer"]) for body in scope.stand_ins.values()]
        answers += [answer_in(body["answer"]) for body in scope.listened.values()]
    tried = [answer_in(body) for bodies in state.tried.values() for body in bodies]
    answers += tried + [answer_in(body) for bodies in state.steps.values() for body in bodies]
    end = state.end or {}
    return Report(
        answers=sorted(map(shown_answer, answers), key=lambda answer: answer.number),
        took=end.get("took", 0.0),
        stopped=end.get("stopped", "") if state.end else _why_not_ended(state),
        frames=[frame_in(scope.frame) for scope in state.scopes.values() if scope.frame is not None],
        forgiven=frozenset(answer.number for answer in tried),
        jid=str(state.head.get("jid", "")),
        sources=commits_of((state.head.get("settings") or {}).get("extra") or {}),
    )


def _why_not_ended(state: RunState) -> str:
    if state.open_barriers:
        return STOPS[state.open_barriers[0]["kind"]]
    return "the run broke, or is still running"
