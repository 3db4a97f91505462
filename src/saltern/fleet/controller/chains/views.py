"""Runs as people see them: read from the database, nothing decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import json

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import masked
from saltern.chains.statuses import ENDS, GOOD, OVER, Leg, Run
from saltern.fleet.chains.shape import split_shape
from saltern.fleet.controller.chains import revisions
from saltern.fleet.store import chain_gates, chain_outbox, chain_runs, chain_shapes
from saltern.fleet.store.chains import chain_named, version_of
from saltern.fleet.store.database import Connection

Row = Mapping[str, Any]
_DONE = {one.value for one in GOOD}


def listed(
    connection: Connection, *, chain: str, is_open: bool, before: str, limit: int
) -> list[dict[str, Any]]:
    """Runs, the newest first."""
    known = chain_named(connection, chain) if chain else None
    if chain and known is None:
        return []
    rows = chain_runs.run_rows(
        connection, chain=known.id if known else "", is_open=is_open, before=before, limit=limit
    )
    counts = chain_runs.leg_counts(connection, [row["id"] for row in rows])
    names = {row["chain"]: _name(connection, row["chain"]) for row in rows}
    gates = chain_gates.open_gate_names(connection, [row["id"] for row in rows if row["ended"] is None])
    return [
        {
            **_head(row, names[row["chain"]]),
            "halted": row["halted"],
            "legs": counts[row["id"]],
            "why": _waits(counts[row["id"]], gates.get(row["id"], [])),
        }
        for row in rows
    ]


def _waits(legs: Mapping[str, int], gates: Sequence[str]) -> str:
    """What a run of a list waits for, if no leg of it is at work. Pure."""
    busy = [status for status in legs if Leg(status) not in (*OVER, Leg.PENDING)]
    return f"waits for approval of gate {gates[0]!r}" if gates and not busy else ""


def _name(connection: Connection, chain: str) -> str:
    known = chain_named(connection, chain)
    return known.name if known else chain


def _head(row: Row, name: str) -> dict[str, Any]:
    same = ("version", "target", "status", "author", "created", "ended", "deadline")
    return {"run": row["id"], "chain": name, **{key: row[key] for key in same}}


def shown(connection: Connection, run: str) -> dict[str, Any] | None:
    """One run with its waves, gates and legs."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    legs = chain_runs.leg_rows(connection, run)
    gates = gates_of(connection, run)
    waves = [wave_of(one, legs) for one in chain_runs.wave_rows(connection, run)]
    current, chain = _current(connection, run), _chain(connection, run)
    return {
        **_head(row, _name(connection, row["chain"])),
        "why": why(row, waves, gates, legs),
        "plan_sha256": row["plan_sha256"],
        "inputs": masked(chain.inputs, revisions.inputs_of(connection, row)),
        "revisions": revisions.shown(connection, row, chain),
        "strategy": json.decode(row["strategy"]),
        "waves": waves,
        "gates": gates,
        "legs": [_leg(leg, current.get(leg["id"], "")) for leg in legs],
    }


def wave_of(row: Row, legs: Sequence[Row]) -> dict[str, Any]:
    """A wave, and how many of the legs are its own."""
    own = sum(leg["wave"] == row["number"] for leg in legs)
    same = {name: row[name] for name in ("stage", "status", "soak_until")}
    return {
        "wave": row["number"] + 1,
        "systems": own,
        "gate": json.decode(row["state"]).get("gate", ""),
        "health": json.decode(row["state"]).get("health", ""),
        **same,
    }


def gates_of(connection: Connection, run: str) -> list[dict[str, Any]]:
    """The gates of a run with their votes."""
    votes = chain_gates.vote_rows(connection, run)
    same = ("needed", "of", "status", "expires", "plan_sha256")
    return [
        {
            "gate": row["name"],
            **{name: row[name] for name in same},
            "votes": [
                {"who": one["who"], "approves": one["approves"], "at": one["at"], "why": one["why"]}
                for one in votes
                if one["gate"] == row["name"]
            ],
        }
        for row in chain_gates.gate_rows(connection, run)
    ]


def _leg(leg: Row, current: str) -> dict[str, Any]:
    same = ("system", "status", "away", "quarantined", "ended")
    found = {"wave": leg["wave"] + 1, "current": current, **{name: leg[name] for name in same}}
    return {**found, "waits_for": waits_for(leg)}


def waits_for(leg: Row) -> str:
    """What a leg waits for: a window of its system, or what its system has said."""
    shut = "" if Leg(leg["status"]) in OVER else json.decode(leg["state"]).get("shut", "")
    return f"a window: {shut}" if shut else str(leg["waits_for"])


def _current(connection: Connection, run: str) -> dict[str, str]:
    """Of each leg the first action that is not done."""
    found: dict[str, str] = {}
    names = chain_runs.STEP_NAMES
    leg, action, status, final = (names.index(one) for one in ("leg", "action", "status", "final"))
    for row in chain_runs.step_rows(connection, run):
        if row[leg] not in found and row[status] not in _DONE and not row[final]:
            found[row[leg]] = row[action]
    return found


def why(row: Row, waves: Sequence[Row], gates: Sequence[Row], legs: Sequence[Row]) -> str:
    """What a run waits for, or why it is as it is, in one line. Pure."""
    if row["halted"]:
        return str(row["halted"])
    status = Run(row["status"])
    if status in ENDS:
        return ""
    opened = [one for one in gates if one["status"] == "open"]
    first = next((one for one in opened if one["gate"] == "run"), None)
    if status is Run.AWAITING_APPROVAL and first is not None:
        votes = sum(one["approves"] for one in first["votes"])
        return f"waits for approval of gate 'run': {votes} of {first['needed']}"
    next_wave = next((one for one in waves if one["status"] == "pending"), None)
    gate = next((one for one in opened if next_wave and one["gate"] == next_wave["gate"]), None)
    soaking = next((one for one in waves if one["status"] == "soaking"), None)
    busy = [leg for leg in legs if leg["sent"] and Leg(leg["status"]) not in OVER]
    waiting = [leg["waits_for"] for leg in busy if Leg(leg["status"]) is Leg.WAITING and leg["waits_for"]]
    if waiting and len(waiting) == len(busy):
        return f"waits for {waiting[0]}"
    if gate is not None and not busy:
        return f"waits for approval of gate {gate['gate']!r}"
    shut = [leg for leg in legs if waits_for(leg).startswith("a window: ")]
    if shut and not [leg for leg in busy if leg not in shut]:
        return f"{len(shut)} systems wait for {waits_for(shut[0])}"
    if soaking is not None and not busy and soaking["health"] == "asked":
        return f"the systems of wave {soaking['wave']} are asked whether they are well"
    if soaking is not None and not busy:
        return f"wave {soaking['wave']} soaks before the next one begins"
    if away := [leg["system"] for leg in busy if leg["away"]]:
        return f"waits for {', '.join(away[:5])}: not connected"
    return ""


def matrix(connection: Connection, run: str) -> dict[str, Any] | None:
    """Systems by actions."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    legs = chain_runs.leg_rows(connection, run)
    plans = _plans(connection, legs)
    actions = _in_order([(mark, action) for mark, some in plans.items() for action in some])
    rows = [
        {
            "system": leg["system"],
            "wave": leg["wave"] + 1,
            "status": leg["status"],
            "away": leg["away"],
            "cells": _cells(leg["shape"], plans, actions),
        }
        for leg in legs
    ]
    waves = [wave_of(one, legs) for one in chain_runs.wave_rows(connection, run)]
    reason = why(row, waves, gates_of(connection, run), legs)
    return {"run": run, "status": row["status"], "why": reason, "actions": actions, "rows": rows}


def _plans(connection: Connection, legs: Sequence[Row]) -> dict[str, list[str]]:
    """The actions of each plan that legs of a run have, by its mark: few, however many legs there are."""
    plans: dict[str, list[str]] = {}
    for one in legs:
        mark = split_shape(one["shape"])[1]
        if mark not in plans:
            plans[mark] = [step["action"] for step in chain_shapes.step_heads(connection, one["id"])]
    return plans


def _cells(shape: str, plans: Mapping[str, list[str]], actions: Sequence[str]) -> list[str]:
    """The status of each action on a system, from the letters that its leg has for its steps."""
    words, mark = split_shape(shape)
    known = dict(zip(plans[mark], words, strict=False))
    return ["succeeded" if (word := known.get(action, "")) == "changed" else word for action in actions]


def _in_order(cells: Sequence[tuple[str, str]]) -> list[str]:
    """Every action once. All plans come from one chain, so each new one goes behind the one before it."""
    order: list[str] = []
    known: set[str] = set()
    system, before = "", ""
    for one, action in cells:
        before = before if one == system else ""
        if action not in known:
            order.insert(order.index(before) + 1 if before else 0, action)
            known.add(action)
        system, before = one, action
    return order


def leg(connection: Connection, run: str, system: str) -> dict[str, Any] | None:
    """One system of a run with all its steps."""
    row = chain_runs.leg_row(connection, f"{run}.{system}")
    return next(iter(_whole_legs(connection, run, [row])), None) if row is not None else None


def legs(connection: Connection, run: str, first: int, limit: int) -> list[dict[str, Any]]:
    """Legs of a run with all their steps, by place."""
    return _whole_legs(connection, run, chain_runs.leg_rows(connection, run)[first : first + limit])


def _whole_legs(connection: Connection, run: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    chain = _chain(connection, run)
    orders: dict[str, list[dict[str, Any]]] = {}
    shown = ("order", "verb", "step", "created", "jid", "sent", "acked", "answer")
    for one in chain_outbox.leg_orders(connection, run):
        orders.setdefault(one["leg"], []).append({name: one[name] for name in shown})
    return [_whole_leg(connection, row, chain, orders.get(row["id"], [])) for row in rows]


def _chain(connection: Connection, run: str) -> Chain:
    row = chain_runs.run_row(connection, run)
    version = version_of(connection, row["chain"], row["version"]) if row else None
    assert version is not None
    return read_chain(version.text, "chain.yaml")


def _whole_leg(
    connection: Connection, row: Row, chain: Chain, orders: list[dict[str, Any]]
) -> dict[str, Any]:
    plan = plan_for(chain, row["system"])
    tries: dict[int, list[dict[str, Any]]] = {}
    shown = ("number", "status", "comment", "started", "ended")
    for one in chain_shapes.attempts_of(connection, row["id"]):
        tries.setdefault(one["step"], []).append({name: one[name] for name in shown})
    same = ("action", "kind", "status", "blocked_by", "attempts", "changed", "comment", "took")
    steps = [
        {
            **{name: one[name] for name in (*same, "started", "ended", "final")},
            "chunk": plan.segment_of(one["action"]).name,
            "tries": tries.get(one["number"], []),
        }
        for one in (
            dict(zip(chain_runs.STEP_NAMES, values, strict=True))
            for values in chain_runs.steps_of(connection, row["id"])
        )
    ]
    head = {name: row[name] for name in ("run", "system", "status", "away", "quarantined", "ended")}
    head |= {"wave": row["wave"] + 1, "begun": row["begun"] or None}
    return {"chain": chain.name, **head, "waits_for": waits_for(row), "steps": steps, "orders": orders}


def log(connection: Connection, run: str) -> list[dict[str, Any]]:
    """What happened to a run, oldest first."""
    rows = [
        {
            "at": one["at"],
            "what": one["verb"],
            "who": one["who"],
            "about": one["step"],
            "detail": one["outcome"],
        }
        for one in chain_runs.order_rows(connection, run)
    ]
    rows += [
        {
            "at": one["created"],
            "what": f"order {one['order']}: {one['verb']}",
            "about": one["leg"].removeprefix(f"{run}."),
            "detail": one["answer"] or ("sent" if one["jid"] else "to be sent"),
        }
        for one in chain_outbox.leg_orders(connection, run)
    ]
    rows += [
        {
            "at": one["at"],
            "what": "approved" if one["approves"] else "rejected",
            "who": one["who"],
            "about": one["gate"],
            "detail": one["why"],
        }
        for one in chain_gates.vote_rows(connection, run)
    ]
    return sorted(rows, key=lambda one: one["at"])
