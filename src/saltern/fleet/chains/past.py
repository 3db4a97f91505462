"""A run as it was at a moment: a fold over its recorded events up to that moment. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saltern.chains.statuses import Leg, Run, Step
from saltern.fleet.chains.shape import letter

Row = Mapping[str, Any]


def step_at(status: str, started: float | None, ended: float | None, at: float) -> str:
    """The status of a step at a moment, by when it began and ended."""
    if started is None:
        over = ended is not None and ended <= at
        return status if over else Step.NOT_RUN.value
    if started > at:
        return Step.NOT_RUN.value
    return status if ended is not None and ended <= at else Step.RUNNING.value


def letter_at(row: Row, at: float) -> str:
    status = step_at(row["status"], row["started"], row["ended"], at)
    return letter(status, changed=bool(row["changed"]))


class Past:
    """The statuses of a run and its legs after the events up to a moment."""

    def __init__(self) -> None:
        self.run = Run.SCHEDULED.value
        self.why = ""
        self.legs: dict[str, tuple[str, bool]] = {}

    def leg(self, system: str) -> tuple[str, bool]:
        """The status of a leg, and whether it was away."""
        return self.legs.get(system, (Leg.PENDING.value, False))


def fold(events: Iterable[Row], at: float) -> Past:
    """Apply the events of a run, the oldest first."""
    past = Past()
    for event in events:
        if event["at"] > at:
            break
        data = event["data"]
        if "id" in data:
            past.legs[data["id"]] = (str(data.get("status", "")), bool(data.get("away")))
        elif "status" in data:
            past.run, past.why = str(data["status"]), str(data.get("why", ""))
    return past
