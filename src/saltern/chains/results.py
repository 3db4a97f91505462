"""What a run says of the actions of a chunk."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from saltern.chains.compile import state_id
from saltern.chains.statuses import Step
from saltern.journal.codec import chunks_in
from saltern.journal.fold import RunState
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome, Result

Told = dict[str, dict[str, object]]
NOT_REACHED = "the run ended before it"


def results(report: Report, actions: Iterable[str], barriers: Container[str] = ()) -> Told:
    """Each action's status, comment, whether it changed anything, and how long it took.

    A barrier that changed nothing was not needed.
    """
    answers = {answer.chunk.id: answer for answer in report.answers if not answer.frame and not answer.sub}
    told = {name: _told(answers.get(state_id(name))) for name in actions}
    for name, row in told.items():
        if name in barriers and row["status"] == Step.SUCCEEDED.value and not row["changed"]:
            row["status"] = Step.SKIPPED.value
    return told


def in_doubt(state: RunState, actions: Iterable[str], repeatable: Container[str]) -> Told:
    """What was begun in a run that nobody goes on with. What may be run again has simply not run."""
    begun = {place for path, place in state.in_doubt if not path}
    chunks = chunks_in(state.scope("").plan, state.sources) if begun else []
    names = {chunks[place].id for place in begun}
    why = "it was begun, and nobody knows how it ended"
    return {
        name: _row(Step.INDETERMINATE, why)
        for name in actions
        if state_id(name) in names and name not in repeatable
    }


def not_compiled(actions: Iterable[str], why: str) -> Told:
    """The states of the chunk are wrong: the first action says so, and nothing was run."""
    first, *others = actions
    return {
        first: _row(Step.FAILED, why),
        **{name: _row(Step.NOT_RUN, NOT_REACHED) for name in others},
    }


def unknown(actions: Mapping[str, bool]) -> Told:
    """The run is gone, with all it knew. ``actions``: whether it is safe to run it again."""
    why = "its run is no longer known, so nobody can tell whether it was done"
    return {
        name: _row(Step.NOT_RUN, "") if again else _row(Step.INDETERMINATE, why)
        for name, again in actions.items()
    }


def status(result: Result) -> Step:
    if result.extra.get("indeterminate"):
        return Step.SKIPPED if result.outcome is Outcome.OK else Step.INDETERMINATE
    if result.outcome is not Outcome.FAILED:
        return Step.SUCCEEDED
    if not result.ran:
        return Step.NOT_RUN
    return Step.TIMED_OUT if result.extra.get("timed_out") else Step.FAILED


def _told(answer: Answer | None) -> dict[str, object]:
    if answer is None:
        return _row(Step.NOT_RUN, NOT_REACHED)
    result = answer.result
    comment = result.comment
    if output := _said(result):
        comment = f"{comment}: {output}"
    return {**_row(status(result), comment), "changed": bool(result.changes), "took": answer.took}


def _said(result: Result) -> str:
    """The last line of what a failed command said."""
    if result.outcome is not Outcome.FAILED:
        return ""
    said = str(result.data.get("stderr") or result.data.get("stdout") or "").strip()
    return said.splitlines()[-1][:200] if said else ""


def _row(status: Step, comment: str) -> dict[str, object]:
    return {"status": status.value, "comment": comment, "changed": False, "took": 0.0}
