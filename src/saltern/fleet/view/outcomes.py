"""Reads the answer of a system: states that failed or changed, why nothing was run, or a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.language.events import Report
from saltern.language.result import Outcome as StateOutcome
from saltern.report.blocks import place
from saltern.report.causes import assign
from saltern.report.from_salt import from_dict, is_states
from saltern.report.text import safe_line
from saltern.report.verdict import failed

LABEL = "local"  # the key above the data that a command prints on one machine
ITSELF = "\0"  # stands for the name of the system in what is compared
NO_STATES = "no_|-states_|-states_|-None"  # what Salt answers where there is nothing to do
STATES, PLAN, DATA = "states", "plan", "data"
# Functions that answer with states or a plan. All others answer with a value.
SHAPES: dict[str, str] = {
    "state.apply": STATES,
    "state.highstate": STATES,
    "state.sls": STATES,
    "state.single": STATES,
    "state.orchestrate": STATES,
    "state.top": STATES,
    "saltern.resume": STATES,
    "saltern.report": STATES,
    "saltern.plan": PLAN,
}
LABELLED = frozenset({*SHAPES, "chain.run", "saltern.show", "saltern.runs"})
WORDS = {
    "indeterminate": "of unknown outcome",
    "held": "not begun",
    "queued": "away",
    "sent": "without an answer",
}
NOTHING_TO_DO = {"saltern.resume": "no run is broken; there is nothing to resume"}  # if it printed nothing
NOT_RUN = frozenset({"refused", "expired", "cancelled", "indeterminate"})  # also if the agent itself says so
ASCENDING = ("clean", "value", "would change", "changed", "failed", "problem", "nothing")


class Failure(Struct, frozen=True, order=True):
    """One failed state, with the first line of its reason, and its location."""

    id: str
    function: str
    why: str
    where: str = ""
    more: int = 0  # other states that were not run for the same reason


class Outcome(Struct, frozen=True, kw_only=True):
    """One system. ``kind`` is a word of ``ASCENDING``; ``value`` is what the command printed there."""

    system: str
    kind: str
    value: object = None
    failures: tuple[Failure, ...] = ()
    changed: tuple[str, ...] = ()
    total: int = 0
    why: str = ""


class Answered(Struct, frozen=True, kw_only=True):
    """What is known about a system when it is reported: status, exit code, and the body if there is one."""

    system: str
    status: str
    exit_code: int = 0
    why: str = ""
    body: object = None
    has_body: bool = False


def shape_of(function: str) -> str:
    return SHAPES.get(function, DATA)


def strip_label(function: str, body: object) -> object:
    """The body without its outer key."""
    if function in LABELLED and isinstance(body, Mapping) and list(body) == [LABEL]:
        return body[LABEL]
    return body


def outcome(function: str, answered: Answered) -> Outcome:
    """Read what a system answered."""
    if not answered.has_body or (answered.body is None and answered.status in NOT_RUN):
        return _without_body(answered)
    value = strip_label(function, answered.body)
    shape = shape_of(function)
    if shape == STATES and is_states(value):
        return _of_states(answered.system, value)
    if shape == PLAN and isinstance(value, Mapping) and isinstance(value.get("states"), list):
        return _of_plan(answered.system, value)
    if value is None and answered.status == "returned" and function in NOTHING_TO_DO:
        return Outcome(system=answered.system, kind="clean", why=NOTHING_TO_DO[function])
    if answered.status == "failed" or answered.exit_code:
        return Outcome(system=answered.system, kind="problem", value=value, why=_why(answered, value))
    return Outcome(system=answered.system, kind="value", value=value)


def _without_body(answered: Answered) -> Outcome:
    if answered.status == "returned":
        return Outcome(system=answered.system, kind="clean")
    status = WORDS.get(answered.status, answered.status)
    why = f"{status}: {answered.why}" if answered.why else status
    return Outcome(system=answered.system, kind="nothing", why=why)


def _why(answered: Answered, value: object) -> str:
    """The reason as one text: the reported one, else what came in place of an answer."""
    if answered.why:
        return answered.why
    if isinstance(value, list) and value:
        return "\n".join(map(str, value))
    return str(value) if value not in (None, "", {}) else answered.status


def _of_states(system: str, value: Any) -> Outcome:
    if list(value) == [NO_STATES]:
        why = str(value[NO_STATES].get("comment", ""))
        return Outcome(system=system, kind="problem", value=value, why=why)
    report = from_dict(value)
    changed = tuple(one.path for one in report.answers if one.result.changes and not one.sub)
    would = [
        one.path for one in report.answers if one.result.outcome is StateOutcome.WOULD_CHANGE and not one.sub
    ]
    kind = "failed" if failed(report) else "would change" if would else "changed" if changed else "clean"
    return Outcome(
        system=system,
        kind=kind,
        value=value,
        failures=_failures(report),
        changed=tuple(would) if kind == "would change" else changed,
        total=sum(not one.sub for one in report.answers),
    )


def _failures(report: Report) -> tuple[Failure, ...]:
    """The failures that are not a consequence of another one."""
    hidden = assign(report.answers).hidden
    guilty = [
        one
        for one in report.answers
        if one.result.outcome is StateOutcome.FAILED and one.number not in hidden
    ]
    unrun = Counter(_first(one.result.comment) for one in guilty if not one.result.ran)
    found: dict[object, Failure] = {}
    for one in guilty:
        why = _first(one.result.comment)
        key = why if not one.result.ran else (one.path, one.chunk.function, why)
        more = unrun[why] - 1 if not one.result.ran else 0
        found.setdefault(key, Failure(one.path, one.chunk.function, why, place(one), more))
    return tuple(found.values())


def _first(comment: str) -> str:
    return safe_line(comment.strip().partition("\n")[0])


def _of_plan(system: str, value: Mapping[str, Any]) -> Outcome:
    rows = [row for row in value["states"] if isinstance(row, Mapping) and not row.get("sub")]
    bad = [row for row in rows if row.get("kind") == "fail"]
    moving = [
        str(row.get("path") or row.get("id")) for row in rows if row.get("kind") not in ("keep", "fail")
    ]
    failures = tuple(
        Failure(
            str(row.get("id")),
            str(row.get("function")),
            _first(str(row.get("comment"))),
            str(row.get("where")),
        )
        for row in bad
    )
    kind = "failed" if bad else "would change" if moving else "clean"
    return Outcome(
        system=system, kind=kind, value=value, failures=failures, changed=tuple(moving), total=len(rows)
    )
