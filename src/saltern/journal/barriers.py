"""The barriers in a journal, and what to do about each: a pure decision."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from saltern.language.barriers import Barrier, Crossing
from saltern.system.boot import has_rebooted

Body = Mapping[str, Any]
REARM = 60.0  # seconds after which a machine that has not shut down is asked again
START_DEADLINE = 600.0
RETURN_DEADLINE = 3600.0
UPDATE_DEADLINE = 60.0


class Decision(Enum):
    CROSSED = "crossed"
    FAILED = "failed"
    ARM = "arm"
    FORCE = "force"
    WAIT = "wait"


def asked_for(barrier: Barrier) -> dict[str, object]:
    """The part of the record that says what was requested, and in which surroundings."""
    from saltern.system.reboot import current

    machine = current()
    return {
        "kind": barrier.kind,
        "when": barrier.when,
        "ask": dict(barrier.ask),
        "before": machine.identity(),
        "tick": machine.tick(),
    }


def crossing_of(body: Body) -> Crossing:
    return Crossing(
        kind=body["kind"],
        when=body["when"],
        ask=body["ask"],
        before=body["before"],
        now=body.get("now", {}),
        why=body.get("why", ""),
        fresh=body["fresh"],
        times=body["times"],
    )


def seconds(body: Body, name: str, default: float = 0.0) -> float:
    """A detail as a number of seconds, whatever its form."""
    given = body["ask"].get(name)
    return max(0.0, float(given)) if isinstance(given, int | float) else default


def start_deadline(body: Body) -> float:
    return seconds(body, "notice") + seconds(body, "start_deadline", START_DEADLINE)


def longest(body: Body) -> float:
    """Seconds within which the other side of a barrier must be reached, by the options of the requesting
    state.
    """
    if body["kind"] == "update":
        return seconds(body, "deadline", UPDATE_DEADLINE)
    return start_deadline(body) + seconds(body, "return_deadline", RETURN_DEADLINE)


def decide_reboot(body: Body, identity: dict[str, str], tick: float, since: float) -> Decision:
    """``tick`` counts seconds since boot; ``since`` is the first tick of the asking process.

    Only another identity proves a reboot. A lower count does not: the asking process then
    starts to wait again, so that even a machine that cannot distinguish its boots reaches an end.
    """
    if has_rebooted(body["before"], identity):
        return Decision.CROSSED
    begun = body["tick"] if body["tick"] <= since else since
    if tick - begun >= start_deadline(body):
        return _late(body, tick)
    armed = [one["tick"] for one in body["armed"] if one["tick"] <= tick]
    return Decision.WAIT if armed and tick - max(armed) < REARM + seconds(body, "notice") else Decision.ARM


def _late(body: Body, tick: float) -> Decision:
    """The machine has not shut down in time; force it once if that is allowed."""
    forced = [one["tick"] for one in body["armed"] if one.get("forced") and one["tick"] <= tick]
    if not body["ask"].get("force") or (forced and tick - max(forced) >= REARM):
        return Decision.FAILED
    return Decision.WAIT if forced else Decision.FORCE
