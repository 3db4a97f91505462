"""A run of a chain through a Salt master, folded from the reports of the runner of the extension. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain
from saltern.chains.statuses import ENDED_WELL, Leg, Run, Step

Row = Mapping[str, Any]
ENVELOPE = ("event", "system", "leg", "problem")
NO_LEG = "it did not accept the chain"
STEP_KEYS = {"status": Step.NOT_RUN.value, "changed": False, "comment": "", "attempts": 0, "blocked_by": ""}


class SaltRun:
    """The known state of each system of a run; ``note`` adds an event."""

    def __init__(self, run: str, chain: Chain, systems: Sequence[str]) -> None:
        self.run, self.chain = run, chain
        self.away: set[str] = set()
        self._legs: dict[str, dict[str, Any]] = {one: _pending_leg(chain, one) for one in systems}

    @property
    def systems(self) -> list[str]:
        return list(self._legs)

    def note(self, row: Row) -> None:
        """Add one row of the runner."""
        kind, system = row["event"], str(row.get("system", ""))
        if kind == "away":
            self.away = (self.away - set(row["asked"])) | set(row["systems"])
        elif kind == "started":
            self.away = set(self._legs) - set(row["there"])
        elif system in self._legs:
            self.away.discard(system)
            _NOTES[kind](self._legs[system], row)

    def learn(self, system: str, leg: Row | None) -> None:
        """Add the report of the job cache or of a system about its leg."""
        if leg is not None and system in self._legs:
            _take_leg(self._legs[system], {"leg": leg})

    def legs(self) -> list[dict[str, Any]]:
        """The leg of each system, as views show it."""
        return [
            {"system": system, "away": system in self.away, "waits_for": "", "quarantined": False, **leg}
            for system, leg in self._legs.items()
        ]

    def status(self) -> Run:
        """How the run ended, by its legs; running while one of them is not over."""
        found = {leg["status"] for leg in self._legs.values()}
        well = {one.value for one in ENDED_WELL}
        if not found <= _OVER:
            paused = found <= _OVER | {Leg.PAUSED.value, Leg.WAITING.value}
            return Run.PAUSED if paused else Run.RUNNING
        if found <= well:
            return Run.SUCCEEDED
        if found & well:
            return Run.PARTIAL
        return Run.CANCELLED if found == {Leg.CANCELLED.value} else Run.FAILED

    def as_data(self) -> dict[str, Any]:
        legs = [{key: value for key, value in leg.items() if key != "quarantined"} for leg in self.legs()]
        return {"run": self.run, "chain": self.chain.name, "status": self.status().value, "legs": legs}

    def as_matrix(self) -> dict[str, Any]:
        """Systems by actions; an action that is not for a system has no mark."""
        actions = list(dict.fromkeys(one.id for one in (*self.chain.actions, *self.chain.finalizers)))
        rows = [{**leg, "cells": _cells(leg, actions)} for leg in self.legs()]
        return {"run": self.run, "status": self.status().value, "actions": actions, "rows": rows}


_OVER = frozenset(
    one.value for one in (*ENDED_WELL, Leg.FAILED, Leg.CANCELLED, Leg.EXPIRED, Leg.INDETERMINATE)
)


def _pending_leg(chain: Chain, system: str) -> dict[str, Any]:
    steps = [{"action": one.id, "kind": one.kind, **STEP_KEYS} for one in plan_for(chain, system).every]
    return {"status": Leg.PENDING.value, "steps": steps}


def _cells(leg: Row, actions: Sequence[str]) -> list[str]:
    found = {step["action"]: step["status"] for step in leg["steps"]}
    return [found.get(one, "") for one in actions]


def _take_leg(leg: dict[str, Any], row: Row) -> None:
    """The whole leg as the system reports it."""
    steps = [{**STEP_KEYS, **step} for step in row["leg"].get("steps") or leg["steps"]]
    leg.update({**row["leg"], "steps": steps})


def _begin_action(leg: dict[str, Any], row: Row) -> None:
    leg["status"] = Leg.RUNNING.value
    _change(leg, row["action"], {"status": Step.RUNNING.value})


def _end_action(leg: dict[str, Any], row: Row) -> None:
    leg["status"] = Leg.RUNNING.value
    _change(leg, row["action"], {key: value for key, value in row.items() if key not in ENVELOPE})


def _refuse(leg: dict[str, Any], row: Row) -> None:
    leg.update(status=Leg.FAILED.value, problem=row["problem"])
    first = str(row["problem"]).strip().splitlines() or [NO_LEG]
    _change(leg, leg["steps"][0]["action"], {"comment": first[-1]})


def _note_start(leg: dict[str, Any], _row: Row) -> None:
    """Note that the minion has started, or was asked again because it was idle; its next report has more."""
    leg.setdefault("starts", 0)
    leg["starts"] += 1


def _change(leg: dict[str, Any], action: str, values: Row) -> None:
    leg["steps"] = [{**step, **values} if step["action"] == action else step for step in leg["steps"]]


_NOTES = {
    "action-started": _begin_action,
    "action-finished": _end_action,
    "leg": _take_leg,
    "problem": _refuse,
    "minion-started": _note_start,
    "asked-again": _note_start,
}
