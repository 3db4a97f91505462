"""Views of runs: read from the database, nothing decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import json

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import mask_values
from saltern.chains.statuses import GOOD, OVER, Leg, Run
from saltern.fleet.chains.shape import split_shape
from saltern.fleet.controller.chains import revisions
from saltern.fleet.controller.chains.gates import TIME_IS_OVER
from saltern.fleet.controller.chains.waits import absence, begins, waits_for, why
from saltern.fleet.store import chain_gates, chain_outbox, chain_runs, chain_shapes
from saltern.fleet.store.chains import chain_named, names_of, version_of
from saltern.fleet.store.database import Connection

Row = Mapping[str, Any]
_DONE = {"changed", *(one.value for one in GOOD)}


def list_runs(
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
    names = names_of(connection, [*{row["chain"] for row in rows}])
    gates = chain_gates.open_gate_names(connection, [row["id"] for row in rows if row["ended"] is None])
    return [
        {
            **_head(row, names[row["chain"]]),
            "halted": row["halted"],
            "legs": counts[row["id"]],
            "why": _begins(connection, row) or _waits(counts[row["id"]], gates.get(row["id"], [])),
        }
        for row in rows
    ]


def _begins(connection: Connection, row: Row) -> str:
    """What a run that has not begun waits for, by its first leg."""
    first = chain_runs.first_leg_row(connection, row["id"]) if row["status"] == Run.SCHEDULED.value else None
    return begins(row, first) if first is not None else ""


def _waits(legs: Mapping[str, int], gates: Sequence[str]) -> str:
    """What a run in a list waits for, if none of its legs is running. Pure."""
    busy = [status for status in legs if Leg(status) not in (*OVER, Leg.PENDING)]
    return f"waits for approval of gate {gates[0]!r}" if gates and not busy else ""


def _name(connection: Connection, chain: str) -> str:
    known = chain_named(connection, chain)
    return known.name if known else chain


def _head(row: Row, name: str) -> dict[str, Any]:
    same = ("version", "target", "status", "author", "created", "begun", "ended", "deadline")
    return {"run": row["id"], "chain": name, **{key: row[key] for key in same}}


def show_run(connection: Connection, run: str) -> dict[str, Any] | None:
    """One run with its waves, gates and legs."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    legs = chain_runs.leg_rows(connection, run)
    gates = gates_of(connection, run)
    waves = waves_of(connection, run, legs)
    current, chain = _current(legs, _plans(connection, legs)), _chain(connection, run)
    notes, since = chain_shapes.step_notes(connection, run), chain_shapes.running_since(connection, run)
    return {
        **_head(row, _name(connection, row["chain"])),
        "why": why(row, waves, gates, legs),
        "plan_sha256": row["plan_sha256"],
        "inputs": mask_values(chain.inputs, revisions.inputs_of(connection, row)),
        "revisions": revisions.list_revisions(connection, row, chain),
        "strategy": json.decode(row["strategy"]),
        "waves": waves,
        "gates": gates,
        "legs": [
            {
                **_leg(leg, current[leg["id"]]),
                "note": notes.get((leg["id"], current[leg["id"]]), ""),
                "since": since.get(leg["id"]),
            }
            for leg in legs
        ],
    }


def waves_of(connection: Connection, run: str, legs: Sequence[Row]) -> list[dict[str, Any]]:
    """The waves of a run, and the counts of their legs."""
    sizes = Counter([leg["wave"] for leg in legs])
    return [_wave(row, sizes[row["number"]]) for row in chain_runs.wave_rows(connection, run)]


def _wave(row: Row, systems: int) -> dict[str, Any]:
    same = {name: row[name] for name in ("stage", "status", "soak_until")}
    return {
        "wave": row["number"] + 1,
        "systems": systems,
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
    return {**found, "waits_for": waits_for(leg), **absence(leg)}


def _current(legs: Sequence[Row], plans: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """The first unfinished action of each leg, from the letters of its shape."""
    found: dict[str, str] = {}
    for leg in legs:
        words, mark = split_shape(leg["shape"])
        pairs = zip(plans[mark], words, strict=False)
        left = (head["action"] for head, word in pairs if word not in _DONE and not head["final"])
        found[leg["id"]] = next(left, "")
    return found


def matrix(connection: Connection, run: str) -> dict[str, Any] | None:
    """Systems by actions."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    legs = chain_runs.leg_rows(connection, run)
    plans = _plans(connection, legs)
    actions = _in_order([(mark, head["action"]) for mark, some in plans.items() for head in some])
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
    waves = waves_of(connection, run, legs)
    reason = why(row, waves, gates_of(connection, run), legs)
    return {"run": run, "status": row["status"], "why": reason, "actions": actions, "rows": rows}


def _plans(connection: Connection, legs: Sequence[Row]) -> dict[str, list[Row]]:
    """The steps of each plan in a run, by its mark: few, however many legs there are."""
    plans: dict[str, list[Row]] = {}
    for one in legs:
        mark = one["shape"].partition(":")[2]
        if mark not in plans:
            plans[mark] = chain_shapes.step_heads(connection, one["id"])
    return plans


def _cells(shape: str, plans: Mapping[str, Sequence[Row]], actions: Sequence[str]) -> list[str]:
    """The status of each action on a system, from the letters of its leg's shape."""
    words, mark = split_shape(shape)
    known = dict(zip((head["action"] for head in plans[mark]), words, strict=False))
    return ["succeeded" if (word := known.get(action, "")) == "changed" else word for action in actions]


def _in_order(cells: Sequence[tuple[str, str]]) -> list[str]:
    """Every action once. All plans come from one chain, so each new one follows the one before it."""
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
    shown = ("number", "status", "comment", "note", "exit_code", "started", "ended")
    for one in chain_shapes.attempts_of(connection, row["id"]):
        tries.setdefault(one["step"], []).append({name: one[name] for name in shown})
    same = ("action", "kind", "status", "blocked_by", "attempts", "changed", "comment", "took", "started")
    steps = [
        {
            **{name: one[name] for name in (*same, "ended", "final", "note", "exit_code")},
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
    head |= {"waits_for": waits_for(row), **absence(row)}
    head |= {"boot": row["boot"], "build": row["build"], "boots": json.decode(row["state"]).get("boots", [])}
    return {"chain": chain.name, **head, "steps": steps, "orders": orders}


def _outcome(order: Row) -> str:
    """What an order changed, and why it was given."""
    changed = "; ".join(f"{name}: {what}" for name, what in json.decode(order["outcome"] or "{}").items())
    reason = f" ({order['reason']})" if order["reason"] else ""
    return f"{changed or 'nothing has changed'}{reason}"


def log(connection: Connection, run: str) -> list[dict[str, Any]]:
    """What happened to a run, oldest first; of one moment, what people did before what was sent."""
    rows = [
        {
            "at": one["at"],
            "what": one["verb"],
            "who": one["who"],
            "about": one["step"],
            "detail": _outcome(one),
        }
        for one in chain_runs.order_rows(connection, run)
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
    rows += [
        {"at": one["decided"], "what": one["status"], "who": "", "about": one["name"], "detail": TIME_IS_OVER}
        for one in chain_gates.gate_rows(connection, run)
        if one["decided"] and one["expires"] and one["decided"] >= one["expires"]
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
    return sorted(rows, key=lambda one: one["at"])
