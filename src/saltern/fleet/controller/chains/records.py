"""A run as the rows of the database, and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert, json

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.chains.model import (
    Attempt,
    Boot,
    LegState,
    RunState,
    StepPlan,
    StepState,
    Strategy,
    WaveState,
)
from saltern.fleet.chains.shape import shape_of

Row = Mapping[str, Any]
_STRATEGY = json.Decoder(Strategy)
LEG_SAME = (
    "away", "held", "ending", "order", "seq", "answered", "begun", "group", "waits_for", "quarantined",
    "boot", "build",
)  # fmt: skip
LEG_MORE = (
    "away_since", "back_by", "usual_return", "lost", "window_until", "leased", "unfit", "tries", "not_before"
)  # fmt: skip  # in its state, as they are
PLAN_MORE = {
    "places": "place", "gates": "gate", "segments": "segment", "expected": "expected", "handles": "handles"
}  # fmt: skip
STEP_SAME = ("blocked_by", "changed", "comment", "took", "started", "ended", "note", "exit_code")


ATTEMPT_SAME = ("comment", "started", "ended", "note", "exit_code")
_UNKNOWN = StepState()


# -- to rows ------------------------------------------------------------------------------------------


def run_values(run: RunState) -> dict[str, Any]:
    """The values of a run that change."""
    return {
        "status": run.status.value,
        "deadline": run.deadline,
        "seen": run.now,
        "cancelled": run.cancelled,
        "halted": run.halted,
        "excused": json.encode(sorted(run.excused)),
        "state": json.encode({"gate": run.gate, "opened": sorted(run.opened), "waits": run.waits}),
    }


def wave_values(run: str, wave: WaveState) -> dict[str, Any]:
    return {
        "run": run,
        "number": wave.number,
        "stage": wave.stage,
        "status": wave.status.value,
        "soak_until": wave.soak_until,
        "state": json.encode(
            {"soak": wave.soak, "gate": wave.gate, "health": wave.health, "check": wave.check}
        ),
    }


def leg_values(leg: LegState) -> dict[str, Any]:
    more = {
        "until": leg.until,
        "again": leg.again,
        "again_step": leg.again_step,
        "again_from": leg.again_from.value if leg.again_from else "",
        **{name: [getattr(step, field) for step in leg.plan] for name, field in PLAN_MORE.items()},
        "shut": leg.shut,
        "renewed": leg.renewed,
        **{name: getattr(leg, name) for name in LEG_MORE},
        "boots": leg.boots,
    }
    same = {name: getattr(leg, name) for name in LEG_SAME}
    return {
        "id": leg.id,
        "status": leg.status.value,
        "sent": leg.sent or "",
        "shape": shape_of(leg),
        "state": json.encode(more),
        **same,
    }


def step_values(leg: LegState, number: int) -> dict[str, Any]:
    state = leg.steps[number]
    return {
        "leg": leg.id,
        "number": number,
        "status": state.status.value,
        "attempts": max((one.number for one in state.attempts), default=0),
        **{name: getattr(state, name) for name in STEP_SAME},
    }


def new_step(leg: LegState, number: int) -> dict[str, Any]:
    plan = leg.plan[number]
    fixed = {"action": plan.id, "kind": plan.kind, "on_failure": plan.on_failure, "final": plan.final}
    return {**step_values(leg, number), **fixed}


def new_leg(run: str, leg: LegState, place: int, plan_sha256: str) -> dict[str, Any]:
    fixed = {"run": run, "system": leg.system, "wave": leg.wave, "place": place, "plan_sha256": plan_sha256}
    return {**leg_values(leg), **fixed}


def attempt_values(leg: LegState, number: int) -> list[dict[str, Any]]:
    """The attempts of a step; times and comment are known only for the newest."""
    state = leg.steps[number]
    newest = max((one.number for one in state.attempts), default=0)
    return [
        {
            "leg": leg.id,
            "step": number,
            "number": one.number,
            "status": one.status.value,
            **{name: getattr(state if one.number == newest else _UNKNOWN, name) for name in ATTEMPT_SAME},
        }
        for one in state.attempts
    ]


# -- from rows ----------------------------------------------------------------------------------------


def run_from(
    row: Row, waves: Sequence[Row], legs: Sequence[Row], steps: Sequence[Row], attempts: Sequence[Row]
) -> RunState:
    """The run in these rows."""
    tries: dict[tuple[str, int], list[Attempt]] = {}
    for one in attempts:
        tries.setdefault((one["leg"], one["step"]), []).append(Attempt(one["number"], Step(one["status"])))
    by_leg: dict[str, list[Row]] = {}
    for step in steps:
        by_leg.setdefault(step["leg"], []).append(step)
    found = [_leg_from(leg, by_leg.get(leg["id"], []), tries) for leg in legs]
    state = json.decode(row["state"])
    return RunState(
        id=row["id"],
        version=f"{row['chain']}:{row['version']}",
        strategy=_STRATEGY.decode(row["strategy"]),
        deadline=row["deadline"],
        legs={leg.id: leg for leg in found},
        waves=tuple(_wave_from(wave, found) for wave in waves),
        status=Run(row["status"]),
        now=row["seen"],
        cancelled=row["cancelled"],
        halted=row["halted"],
        excused=frozenset(json.decode(row["excused"])),
        gate=state.get("gate", ""),
        opened=frozenset(state.get("opened", [])),
        waits=state.get("waits", ""),
    )


def _wave_from(row: Row, legs: Sequence[LegState]) -> WaveState:
    state = json.decode(row["state"])
    return WaveState(
        number=row["number"],
        legs=tuple(leg.id for leg in legs if leg.wave == row["number"]),
        status=Wave(row["status"]),
        soak_until=row["soak_until"],
        stage=row["stage"],
        soak=state.get("soak", 0),
        gate=state.get("gate", ""),
        health=state.get("health", ""),
        check=state.get("check", ""),
    )


def _leg_from(row: Row, steps: Sequence[Row], tries: Mapping[tuple[str, int], list[Attempt]]) -> LegState:
    state = json.decode(row["state"])
    plan = tuple(_step_plan(state, at, one) for at, one in enumerate(steps))
    return LegState(
        id=row["id"],
        system=row["system"],
        wave=row["wave"],
        plan=plan,
        status=Leg(row["status"]),
        sent=row["sent"] or None,
        steps=tuple(_step_from(one, tries.get((row["id"], one["number"]), [])) for one in steps),
        until=state.get("until", ""),
        again=state.get("again", ""),
        again_step=state.get("again_step", ""),
        again_from=Leg(state["again_from"]) if state.get("again_from") else None,
        shut=state.get("shut", ""),
        renewed=state.get("renewed", 0),
        **{name: row[name] for name in LEG_SAME},
        **{name: state[name] for name in LEG_MORE if name in state},
        boots=convert(state.get("boots", ()), tuple[Boot, ...]),
    )


def _step_plan(state: Row, at: int, one: Row) -> StepPlan:
    more = {field: state[name][at] for name, field in PLAN_MORE.items() if state.get(name)}
    fixed = {name: one[name] for name in ("kind", "on_failure", "final")}
    return StepPlan(id=one["action"], **{"place": at, **fixed, **more})


def _step_from(row: Row, attempts: Sequence[Attempt]) -> StepState:
    same = {name: row[name] for name in STEP_SAME}
    return StepState(status=Step(row["status"]), attempts=tuple(attempts), **same)
