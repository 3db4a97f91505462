"""The results of the actions of a segment, from its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from saltern.chains.actions import Kind
from saltern.chains.compile import state_id
from saltern.chains.statuses import Step
from saltern.durable.barriers.cancel import CANCELLED
from saltern.journal.chunk_codec import chunks_in
from saltern.journal.run_state import RunState
from saltern.language import secrets
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome, Result
from saltern.system.keeper import program_prefix
from saltern.system.ledger import Kept
from saltern.system.process import Ran

Rows = dict[str, dict[str, object]]
APPLIES = frozenset({"state.apply", "state.sls", "state.highstate"})
MOST_OUTPUT = 64_000  # characters of one stream that are kept with an action
NOT_REACHED = "the run ended before it"
AGAIN = "it was stopped while it ran; it may be run again"


def results(report: Report, actions: Iterable[str], kinds: Mapping[str, Kind] | None = None) -> Rows:
    """Each action's status, comment, output, whether it changed anything, when it began and how long it took.

    A barrier that changed nothing was not needed; actions that only check have no changes.
    """
    answers = {answer.chunk.id: answer for answer in report.answers if not answer.frame and not answer.sub}
    rows = {name: _row_of(answers.get(state_id(name))) for name in actions}
    for name, kind in (kinds or {}).items():
        if name not in rows:
            continue
        if kind.barrier and rows[name]["status"] == Step.SUCCEEDED.value and not rows[name]["changed"]:
            rows[name]["status"] = Step.SKIPPED.value
        if kind.looks:
            rows[name]["changed"] = False
    return rows


def begun_in(state: RunState) -> dict[str, int]:
    """The states that a run has begun and not ended: their ids, with the number of each."""
    begun = {index for path, index in state.in_doubt if not path and index >= 0}
    chunks = chunks_in(state.scope("").plan, state.sources) if begun else []
    return {chunks[index].id: state.scope("").started[index]["number"] for index in begun}


def in_doubt(
    state: RunState,
    actions: Iterable[str],
    repeatable: Container[str],
    kept: Kept,
    stopped: Container[str] = (),
) -> Rows:
    """The rows of actions that were begun in a run that is not continued, or that was ``stopped`` before
    it did anything. How a program ended may be known.
    """
    numbers = begun_in(state)
    crossed = Counter(body["number"] for body in state.barriers)  # calls that have ended at a barrier
    rows: Rows = {}
    for name in actions:
        number = numbers.get(state_id(name))
        if number is None:
            if name in repeatable and name in stopped:
                rows[name] = _row(Step.CANCELLED, AGAIN)
            continue
        this_call = program_prefix(number, crossed[number])
        programs = [one for one in kept.begun if one.rpartition(".")[0] == this_call]
        if len(programs) == 1 and programs[0] in kept.ended:
            rows[name] = _of_program(kept.ended[programs[0]])
        elif name in repeatable:
            rows[name] = _row(Step.CANCELLED, AGAIN)
        else:
            rows[name] = _row(Step.INDETERMINATE, "it was begun, but how it ended is unknown")
    return rows


def _of_program(ran: Ran) -> dict[str, object]:
    """The result of a program by its exit code, since its state is not called again."""
    if ran.timed_out:
        return _row(Step.TIMED_OUT, "it was stopped when its time was over")
    status = Step.FAILED if ran.code else Step.SUCCEEDED
    return {**_row(status, f"its program ended with exit code {ran.code}"), "changed": True}


def called_off(state: RunState, actions: Iterable[str], said: str) -> Rows:
    """The rows of actions that wait for a reboot when their leg is cancelled. A reboot that is not cancelled
    may still happen.
    """
    indexes = {body["place"] for body in state.open_barriers if not body["scope"]}
    chunks = chunks_in(state.scope("").plan, state.sources) if indexes else []
    names = {chunks[index].id for index in indexes}
    status = Step.CANCELLED if said == CANCELLED else Step.INDETERMINATE
    return {name: _row(status, said) for name in actions if state_id(name) in names}


def with_crossings(state: RunState, rows: Rows) -> Rows:
    """The rows, with the start of an action that crossed a barrier set to its request: the time while the
    machine was down counts.
    """
    begun: dict[int, float] = {}
    for body in state.barriers:
        if not body["scope"]:
            begun.setdefault(body["place"], float(body.get("started") or 0))
    chunks = chunks_in(state.scope("").plan, state.sources) if begun else []
    since = {chunks[place].id: at for place, at in begun.items() if at}
    return {name: _since(row, since.get(state_id(name))) for name, row in rows.items()}


def _since(row: dict[str, object], begun: float | None) -> dict[str, object]:
    started = float(str(row["started"]))
    if begun is None or not begun < started:
        return row
    return {**row, "started": begun, "took": started - begun + float(str(row["took"]))}


def not_compiled(actions: Iterable[str], why: str) -> Rows:
    """The rows of a segment that does not compile: the first action has the reason, and nothing was run."""
    first, *others = actions
    return {
        first: _row(Step.FAILED, why),
        **{name: _row(Step.NOT_RUN, NOT_REACHED) for name in others},
    }


def unknown(actions: Mapping[str, bool]) -> Rows:
    """The rows for a run whose journal is gone. ``actions`` says for each if it may safely be run again."""
    why = "its run is no longer known, so it is unknown whether the action was done"
    return {
        name: _row(Step.NOT_RUN, "") if again else _row(Step.INDETERMINATE, why)
        for name, again in actions.items()
    }


def status(result: Result) -> Step:
    if result.extra.get("interrupted"):
        return Step.INDETERMINATE
    if result.extra.get("indeterminate"):
        return Step.SKIPPED if result.outcome is Outcome.OK else Step.INDETERMINATE
    if result.outcome is not Outcome.FAILED:
        return Step.SUCCEEDED
    if not result.ran:
        return Step.NOT_RUN
    return Step.TIMED_OUT if result.extra.get("timed_out") else Step.FAILED


def _row_of(answer: Answer | None) -> dict[str, object]:
    if answer is None:
        return _row(Step.NOT_RUN, NOT_REACHED)
    result = answer.result
    comment = result.comment
    if output := _last_line(result):
        comment = f"{comment}: {output}"
    found: dict[str, object] = {"changed": has_changed(result), "took": answer.took}
    found["output"], found["output_size"] = output_of(result)
    if isinstance(code := result.data.get("retcode"), int):
        found["exit_code"] = code
    return {**_row(status(result), comment), **found, "started": answer.started if answer.has_start else 0.0}


def has_changed(result: Result) -> bool:
    """True if the system was changed. For a state that applies others, their changes decide: it returns their
    results as its changes, or as data if one of them failed."""
    applied = [given for name, given in (result.data | result.changes).items() if name in APPLIES]
    if not applied:
        return bool(result.changes) and result.ran
    return any(
        isinstance(one, Mapping) and one.get("changes")
        for answer in applied
        if isinstance(answer, Mapping)
        for one in answer.values()
    )


def output_of(result: Result) -> tuple[dict[str, str], dict[str, int]]:
    """The output of the program (only the end, if it is long), and the number of characters of each
    stream.
    """
    written = {name: result.data.get(name) or result.changes.get(name) for name in ("stdout", "stderr")}
    texts = {name: secrets.mask(str(text)) for name, text in written.items() if text}
    return {name: shorten(text) for name, text in texts.items()}, {
        name: len(text) for name, text in texts.items()
    }


def shorten(text: str, most: int = MOST_OUTPUT, size: int = 0) -> str:
    """The end of a long text, after a line that says how much is left out; ``size`` is that of the whole."""
    kept = text[-most:] if len(text) > most else text
    left_out = max(size, len(text)) - len(kept)
    return f"[{left_out:,} characters are left out here]\n{kept}" if left_out else text


def _last_line(result: Result) -> str:
    """The last line that a failed command wrote."""
    if result.outcome is not Outcome.FAILED:
        return ""
    said = str(result.data.get("stderr") or result.data.get("stdout") or "").strip()
    return said.splitlines()[-1][:200] if said else ""


def _row(status: Step, comment: str) -> dict[str, object]:
    return {
        "status": status.value,
        "comment": secrets.mask(comment),
        "changed": False,
        "took": 0.0,
        "started": 0.0,
    }


def refused_rows(action: str, why: str) -> Rows:
    """The row of an action that the machine does not allow: it was not run, and has failed."""
    return {action: _row(Step.FAILED, why)}
