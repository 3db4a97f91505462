"""Writes a leg as JUnit, and as one line of JSON for each event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from saltern.chains.compile import LegPlan, state_id
from saltern.chains.main_line import note_of
from saltern.chains.results import results
from saltern.language.events import Answer, ChunkFinished, ChunkStarted, Event, Report
from saltern.language.result import Outcome
from saltern.report.junit import HEAD, attributes, escape
from saltern.report.salt import dumps
from saltern.report.text import emit, tame

Row = Mapping[str, Any]
# A case with any other status has passed.
ELEMENTS = {
    "failed": "failure",
    "timed out": "failure",
    "indeterminate": "error",
    "not run": "skipped",
    "waiting": "skipped",
    "running": "skipped",
    "skipped": "skipped",
    "cancelled": "skipped",
}


def write_junit(legs: Sequence[Mapping[str, Any]], out: TextIO, label: str) -> None:
    """Write a suite for each leg, with a case for each action."""
    lines = [HEAD, f"<testsuites{attributes(name=label)}>"]
    lines += [line for leg in legs for line in _suite(leg)]
    emit(out, "\n".join([*lines, "</testsuites>\n"]))


def _suite(leg: Mapping[str, Any]) -> Iterator[str]:
    rows: list[Row] = leg["steps"]
    kinds = [ELEMENTS.get(row["status"], "") for row in rows]
    took = sum(row.get("took", 0.0) for row in rows)
    head = attributes(
        name=f"{leg['chain']} on {leg['system']}",
        tests=len(rows),
        failures=kinds.count("failure"),
        errors=kinds.count("error"),
        skipped=kinds.count("skipped"),
        time=f"{took:.6f}",
    )
    yield f"  <testsuite{head}>"
    for row, kind in zip(rows, kinds, strict=True):
        yield from _case(leg, row, kind)
    yield "  </testsuite>"


def _case(leg: Mapping[str, Any], row: Row, kind: str) -> Iterator[str]:
    name = f"{leg['chain']}.{row['kind']}"
    took = f"{row.get('took', 0.0):.6f}"
    yield f"    <testcase{attributes(classname=name, name=row['action'], time=took)}>"
    said = f"blocked by {row['blocked_by']}" if row.get("blocked_by") else note_of(row)
    if kind == "skipped":
        yield f"      <skipped{attributes(message=said or row['status'])}/>"
    elif kind:
        head = attributes(message=said, type=row["status"])
        yield f"      <{kind}{head}>{escape(str(row['comment']))}</{kind}>"
    for stream, element in (("stdout", "system-out"), ("stderr", "system-err")):
        if text := (row.get("output") or {}).get(stream):
            yield f"      <{element}>{escape(str(text))}</{element}>"
    yield "    </testcase>"


def write_lines(leg: Mapping[str, Any], out: TextIO) -> None:
    """Write a line for each action, and one for the leg."""
    for row in leg["steps"]:
        _emit_line(out, "action", **row)
    _emit_line(out, "chain", **{name: value for name, value in leg.items() if name != "steps"})


class LiveLines:
    """Call it with each event of a leg: it writes a line when an action begins and when it has ended."""

    def __init__(self, plan: LegPlan, out: TextIO) -> None:
        self._actions = {state_id(action.id): action for action in plan.every}
        self._out = out

    def __call__(self, event: Event) -> None:
        if isinstance(event, ChunkStarted) and event.is_outer_call and event.chunk.id in self._actions:
            action = self._actions[event.chunk.id]
            _emit_line(self._out, "action-started", action=action.id, kind=action.kind, started=event.started)
        if isinstance(event, ChunkFinished) and event.answer.chunk.id in self._actions:
            answer = event.answer
            action = self._actions[answer.chunk.id]
            if answer.frame or answer.sub or _is_preliminary(answer):
                return
            row = results(Report(answers=[answer]), [action.id], {action.id: action.row})[action.id]
            _emit_line(self._out, "action-finished", action=action.id, kind=action.kind, **row)


def _is_preliminary(answer: Answer) -> bool:
    """True for an action that waits for a reboot or another build, and for those behind it."""
    return answer.result.outcome is Outcome.WOULD_CHANGE and not answer.timed


def _emit_line(out: TextIO, event: str, **values: object) -> None:
    out.write(tame(dumps({"event": event, **values}).decode()) + "\n")
    out.flush()
