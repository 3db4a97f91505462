"""What a run waits for, in one line, from its rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from saltern.chains.statuses import ENDS, OVER, Leg, Run
from saltern.fleet.chains.model import Strategy
from saltern.system.clock import stamp

Row = Mapping[str, Any]
NAMED = 5  # systems that are named


class _Shut(Struct):
    """The part of a leg's state that keeps it from its work."""

    shut: Any = ""
    unfit: Any = ""


_SHUT = json.Decoder(_Shut)
_OVER = frozenset(one.value for one in OVER)


def why(row: Row, waves: Sequence[Row], gates: Sequence[Row], legs: Sequence[Row]) -> str:
    """What a run waits for, or the reason of its status."""
    if row["halted"]:
        return str(row["halted"])
    status = Run(row["status"])
    if status in ENDS:
        return ""
    if status is Run.SCHEDULED and (waits := json.decode(row["state"]).get("waits")):
        return str(waits)
    opened = {one["gate"]: one for one in gates if one["status"] == "open"}
    if status is Run.AWAITING_APPROVAL and "run" in opened:
        return _approval(opened["run"])
    busy = [leg for leg in legs if leg["sent"] and leg["status"] not in _OVER]
    return (
        _waiting_legs(busy)
        or (_next_gate(waves, opened) if not busy else "")
        or _shut_legs(legs, busy)
        or (_soaking_line(row, waves) if not busy else "")
        or _away(row, busy)
        or _unanswered_line(busy)
    )


def begins(row: Row, first: Row) -> str:
    """What a run that has not begun waits for, by the first of its legs."""
    if said := json.decode(row["state"]).get("waits"):
        return str(said)
    if shut := _shut(first):
        return f"waits for a window: {shut}"
    return waits_for(first) or "has not begun yet"


def waits_for(leg: Row) -> str:
    """What a leg waits for: why no window lets it work now, or what its system reported."""
    return _shut(leg) or str(leg["waits_for"])


def _shut(leg: Row) -> str:
    """Why no window lets the leg work now; empty: one does."""
    if leg["status"] in _OVER:
        return ""
    state = _SHUT.decode(leg["state"])
    return str(state.shut or state.unfit or "")


def absence(leg: Row) -> dict[str, float | None]:
    """Since when the system of a leg is away, and by when it must be back, while the leg is open."""
    state = json.decode(leg["state"])
    is_open = leg["away"] and Leg(leg["status"]) not in OVER
    return {name: (state.get(name) or None) if is_open else None for name in ("away_since", "back_by")}


def _approval(gate: Row) -> str:
    votes = sum(one["approves"] for one in gate["votes"])
    return f"waits for approval of gate {gate['gate']!r}: {votes} of {gate['needed']}"


def _waiting_legs(busy: Sequence[Row]) -> str:
    """The line for a run whose running legs all wait."""
    waiting = Leg.WAITING.value
    said = [leg["waits_for"] for leg in busy if leg["status"] == waiting and leg["waits_for"]]
    return f"waits for {said[0]}" if said and len(said) == len(busy) else ""


def _next_gate(waves: Sequence[Row], opened: Mapping[str, Row]) -> str:
    following = next((one for one in waves if one["status"] == "pending"), None)
    if following is None or following["gate"] not in opened:
        return ""
    return _approval(opened[following["gate"]])


def _shut_legs(legs: Sequence[Row], busy: Sequence[Row]) -> str:
    if not all(_shut(leg) for leg in busy):
        return ""  # the first of them is enough
    shut = [said for leg in legs if (said := _shut(leg))]
    systems = "1 system waits" if len(shut) == 1 else f"{len(shut)} systems wait"
    return f"{systems} for a window: {shut[0]}" if shut else ""


def _soaking_line(row: Row, waves: Sequence[Row]) -> str:
    soaking = next((one for one in waves if one["status"] == "soaking"), None)
    if soaking is None:
        return ""
    health = json.decode(row["strategy"]).get("health") or {}
    if soaking["health"] == "asked" and health.get("check"):
        return f"the controller's check {health['check']!r} checks wave {soaking['wave']}"
    if soaking["health"] == "asked":
        return f"the systems of wave {soaking['wave']} are being checked"
    return f"wave {soaking['wave']} soaks before the next one begins"


def _away(row: Row, busy: Sequence[Row]) -> str:
    away = [leg for leg in busy if leg["away"]]
    if not away:
        return ""
    names = _names(away)
    back = [absence(leg)["back_by"] or 0 for leg in away]
    if all(back):
        return f"waits for {names}: down, to be back by {stamp(max(back))} UTC"
    last = max(_expires(row, leg) for leg in away)
    return f"waits for {names}: not connected; until {stamp(last)} UTC"


def _expires(row: Row, leg: Row) -> float:
    """When a leg that does not answer counts as expired."""
    strategy = json.decode(row["strategy"])
    own = strategy.get("leg_time")
    deadline = row["deadline"] if own is None else min(row["deadline"], leg["begun"] + own)
    return float(deadline + strategy.get("grace", Strategy().grace))


def _unanswered_line(busy: Sequence[Row]) -> str:
    """The line for a run whose orders were sent and not confirmed by any system."""
    if not busy or any(Leg(leg["status"]) is not Leg.PENDING for leg in busy):
        return ""
    return f"waits for {_names(busy)}: sent, not answered yet"


def _names(legs: Sequence[Row]) -> str:
    more = f" and {len(legs) - NAMED} more" if len(legs) > NAMED else ""
    return ", ".join(leg["system"] for leg in legs[:NAMED]) + more
