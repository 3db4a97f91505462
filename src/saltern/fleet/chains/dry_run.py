"""Reads the answers of systems to a chain in test mode into a plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, ValidationError, convert

from saltern.fleet.chains.saved_plan import Known, PlannedSystem, used_facts
from saltern.report.forecast import Foreseen

LABEL = "local"  # the key above the data that a command prints on one machine
LONGEST = 8000  # characters of a comment that are kept
MOST_STATES = 500  # states of one action that are kept


class SaidStep(Struct, frozen=True, kw_only=True):
    """One action in the answer of a system; other fields are ignored."""

    action: str
    kind: str = ""
    would: str = ""
    comment: str = ""
    reboot: str = ""
    states: list[dict[str, Any]] = []


class SaidLeg(Struct, frozen=True, kw_only=True):
    """A leg in test mode."""

    plan_sha256: str
    steps: list[SaidStep]
    facts: list[str] = []


class Answer(Struct, frozen=True, kw_only=True):
    """The result of the dry run on one system: the status of its job, the reason, and its return."""

    status: str
    why: str = ""
    body: object = None


WITHOUT = {
    "refused": "it refused the dry run",
    "cancelled": "its dry run was cancelled",
    "expired": "it did not answer in time",
    "indeterminate": "the result of its dry run is unknown",
    "failed": "its dry run failed",
    "returned": "its answer cannot be read",
}


def read_answer(answer: Answer, sha256: str, known: Known) -> PlannedSystem | str:
    """The plan of a system, or why there is none. ``sha256``: the leg that the controller has asked for."""
    body = answer.body
    if isinstance(body, Mapping) and list(body) == [LABEL]:
        body = body[LABEL]
    if not isinstance(body, Mapping) or "steps" not in body:
        return without_answer(answer)
    try:
        said = convert(body, SaidLeg, strict=False)
    except ValidationError:
        return "its answer cannot be read"
    if said.plan_sha256 != sha256:
        return "it reads the chain differently: its version of saltern differs from the controller's"
    steps = [_step(one) for one in said.steps]
    return PlannedSystem(sha256=sha256, steps=steps, facts=used_facts(sorted(set(said.facts)), known))


def without_answer(answer: Answer) -> str:
    about = WITHOUT.get(answer.status, f"its dry run is {answer.status}")
    lines = [line for line in answer.why.strip().splitlines() if line.strip()]
    return f"{about}: {lines[-1].strip()[:LONGEST]}" if lines else about


def _step(one: SaidStep) -> dict[str, Any]:
    return {
        "action": one.action,
        "kind": one.kind,
        "would": one.would,
        "comment": one.comment[:LONGEST],
        "reboot": one.reboot[:LONGEST],
        "states": [_state(row) for row in one.states[:MOST_STATES]],
        "left_out": max(0, len(one.states) - MOST_STATES),
    }


def _state(row: dict[str, Any]) -> dict[str, Any]:
    """A state without its location, which differs between systems and jobs."""
    return {name: row[name] for name in Foreseen.__struct_fields__ if name in row and name != "where"}
