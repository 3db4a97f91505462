"""What a journal says of barriers, and what is to be done about one: a pure decision."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from saltern.language.barriers import Barrier, Crossing
from saltern.system.boot import has_rebooted

Body = Mapping[str, Any]
REARM = 60.0  # seconds after which a machine that has not gone down is asked again
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
    """The part of the record that says what, and in which surroundings it was asked for."""
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
    """A detail that is a number of seconds, whatever the state may have said."""
    given = body["ask"].get(name)
    return max(0.0, float(given)) if isinstance(given, int | float) else default


def start_deadline(body: Body) -> float:
    return seconds(body, "notice") + seconds(body, "start_deadline", START_DEADLINE)


def longest(body: Body) -> float:
    """Seconds in which the other side of a barrier is to be reached, by the wishes of the state that asks."""
    if body["kind"] == "update":
        return seconds(body, "deadline", UPDATE_DEADLINE)
    return start_deadline(body) + seconds(body, "return_deadline", RETURN_DEADLINE)


def decide_reboot(body: Body, identity: dict[str, str], tick: float, since: float) -> Decision:
    """``tick`` counts seconds of one boot; ``since``: the first tick of the process that asks.

    Only another identity is proof. A count that is lower than before is none: the process that asks then
    begins to wait anew, so that even a machine that cannot distinguish its boots comes to an end.
    """
    if has_rebooted(body["before"], identity):
        return Decision.CROSSED
    begun = body["tick"] if body["tick"] <= since else since
    if tick - begun >= start_deadline(body):
        return _late(body, tick)
    armed = [one["tick"] for one in body["armed"] if one["tick"] <= tick]
    return Decision.WAIT if armed and tick - max(armed) < REARM + seconds(body, "notice") else Decision.ARM


def _late(body: Body, tick: float) -> Decision:
    """It has not gone down in time. One that may be forced is, once."""
    forced = [one["tick"] for one in body["armed"] if one.get("forced") and one["tick"] <= tick]
    if not body["ask"].get("force") or (forced and tick - max(forced) >= REARM):
        return Decision.FAILED
    return Decision.WAIT if forced else Decision.FORCE
