"""Views of runs with many systems: grouped rows, causes, moments. Nothing is decided here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import json

from saltern.chains.statuses import ENDS, OVER, Leg, Run
from saltern.fleet.chains.causes import Cause, Failure, group_causes
from saltern.fleet.chains.past import Past, fold, step_at
from saltern.fleet.chains.shape import BAD, letter, split_shape
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.waits import waits_for, why
from saltern.fleet.store import chain_runs, chain_shapes
from saltern.fleet.store.chains import chain_named, names_of
from saltern.fleet.store.database import Connection

Row = Mapping[str, Any]
BARRIERS = ("reboot", "update", "agent")
NAMED = chain_shapes.NAMED
GROUPED = ("wave", "status", "away", "shape", "begun", "ended", "waits_for")


def shapes(connection: Connection, run: str, at: float | None, most: int) -> dict[str, Any] | None:
    """A run as waves and rows of equal legs; ``at``: as it was then."""
    row = chain_runs.run_row(connection, run)
    if row is None:
        return None
    past = fold(chain_shapes.run_events(connection, run), at) if at is not None else None
    legs = [] if Run(row["status"]) in ENDS else chain_shapes.leg_marks(connection, run)
    if past and at:
        groups = _past_groups(connection, run, at, past)
    else:
        groups = group_legs(legs) if legs else _groups(connection, run)
    actions, names, ids = _columns(connection, groups)
    rows = [_row(one, names, ids) for one in groups]
    rows.sort(key=lambda one: (one["wave"], _RANK.get(one["status"], 5), -one["count"]))
    waves = [_wave(one, rows) for one in chain_runs.wave_rows(connection, run)]
    shown, rest = rows[:most], rows[most:]
    return {
        **_head(connection, row, legs),
        "run": run,
        "status": past.run if past else row["status"],
        "systems": sum(one["count"] for one in rows),
        "legs": _numbers((one["status"], one["count"]) for one in rows),
        "actions": actions,
        "waves": waves,
        "rows": shown,
        "more_rows": len(rest),
        "more_systems": sum(one["count"] for one in rest),
    }


def _columns(
    connection: Connection, groups: Sequence[Row]
) -> tuple[list[dict[str, Any]], dict[str, list[str]], list[str]]:
    """The actions of these legs; the names of each kind of leg's steps, and all of them in order."""
    plans = {split_shape(one["shape"])[1]: one["leg"] for one in groups}
    heads = {mark: chain_shapes.step_heads(connection, leg) for mark, leg in plans.items()}
    actions = _actions(heads.values())
    return actions, _names(heads), [one["id"] for one in actions]


def _head(connection: Connection, row: Row, legs: Sequence[Row]) -> dict[str, Any]:
    """The head of a run above its matrix. ``legs``: those of an open run."""
    same = ("version", "target", "author", "created", "ended", "deadline", "plan_sha256")
    gates = views.gates_of(connection, row["id"])
    waves = views.waves_of(connection, row["id"], legs)
    strategy = json.decode(row["strategy"])
    return {
        **{name: row[name] for name in same},
        "chain": _name(connection, row["chain"]),
        "why": why(row, waves, gates, legs),
        "max_failures": amount(strategy.get("max_failures")),
        "gates": gates,
    }


def amount(value: object) -> str:
    """A number of systems, or a percentage of them, as text: ``2``, ``7.5 %``; empty if there is none."""
    if not isinstance(value, Mapping):
        return "" if value is None else str(value)
    return f"{value.get('number', 0):g}{' %' if value.get('percent') else ''}"


_RANK = {
    "failed": 0, "expired": 0, "indeterminate": 0, "paused": 1, "waiting": 1, "rebooting": 2, "updating": 2,
    "running": 3, "delivered": 3, "queued": 3, "pending": 4,
}  # fmt: skip


def _groups(connection: Connection, run: str) -> list[dict[str, Any]]:
    names = chain_shapes.named_systems(connection, run)
    return [
        {**one, "systems": names[one["wave"], one["status"], bool(one["away"]), one["shape"]]}
        for one in chain_shapes.shape_groups(connection, run)
    ]


def group_legs(legs: Sequence[Row]) -> list[dict[str, Any]]:
    """The same from legs that have been read. Pure."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for leg in legs:
        key = (leg["wave"], leg["status"], bool(leg["away"]), leg["shape"])
        one = found.get(key)
        if one is None:
            same = {name: leg[name] for name in GROUPED}
            found[key] = {**same, "leg": leg["id"], "count": 1, "systems": [leg["system"]]}
            continue
        one["count"] += 1
        one["begun"] = min(one["begun"], leg["begun"])
        one["ended"] = max(one["ended"] or 0, leg["ended"] or 0) or None
        one["waits_for"] = min(one["waits_for"], leg["waits_for"])
        one["systems"] += [leg["system"]] if len(one["systems"]) < NAMED else []
    return list(found.values())


def _past_groups(connection: Connection, run: str, at: float, past: Past) -> list[dict[str, Any]]:
    """The same from the status of each step at a moment."""
    letters: dict[str, str] = {}
    for leg, status, changed, started, ended in chain_shapes.timed_steps(connection, run):
        then = step_at(status, started, ended, at)
        letters[leg] = letters.get(leg, "") + letter(then, changed=bool(changed))
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for leg in chain_runs.leg_rows(connection, run):
        status, away = past.leg(leg["system"])
        shape = f"{letters.get(leg['id'], '')}:{leg['shape'].partition(':')[2]}"
        key = (leg["wave"], status, away, shape)
        one = found.setdefault(key, {"count": 0, "systems": [], "leg": leg["id"], "waits_for": ""})
        one |= dict(zip(("wave", "status", "away", "shape"), key, strict=True))
        one["count"] += 1
        one |= {"begun": leg["begun"], "ended": None}
        one["systems"] += [leg["system"]] if len(one["systems"]) < NAMED else []
    return list(found.values())


def _actions(plans: Iterable[Sequence[Row]]) -> list[dict[str, Any]]:
    """Every action of the plans once, in order. All belong to one chain: a new one follows its neighbour."""
    order: list[str] = []
    heads: dict[str, Row] = {}
    for plan in plans:
        before = ""
        for head in plan:
            name = head["action"]
            if name not in heads:
                order.insert(order.index(before) + 1 if before else 0, name)
                heads[name] = head
            before = name
    made: list[dict[str, Any]] = []
    segment, was_final = 1, False
    for name in order:
        head = heads[name]
        barrier = head["kind"] in BARRIERS
        begins = barrier or (bool(made) and made[-1]["barrier"]) or (bool(head["final"]) and not was_final)
        segment += begins and bool(made)
        was_final = bool(head["final"])
        made.append(
            {"id": name, "kind": head["kind"], "final": was_final, "barrier": barrier, "segment": segment}
        )
    return made


def _names(heads: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """The actions of each plan, by its mark."""
    return {mark: [head["action"] for head in plan] for mark, plan in heads.items()}


def _row(one: Row, names: Mapping[str, Sequence[str]], actions: Sequence[str]) -> dict[str, Any]:
    """A row of the matrix: a cell for each action of the run, empty where the plan of the row does not have
    it.
    """
    statuses, mark = split_shape(one["shape"])
    over = Leg(one["status"]) in OVER
    return {
        "wave": one["wave"] + 1,
        "count": one["count"],
        "status": one["status"],
        "away": bool(one["away"]) and not over,
        "cells": _cells(statuses, names[mark], actions),
        "systems": one["systems"],
        "begun": one["begun"] or None,
        "ended": one["ended"],
        "waits_for": one["waits_for"],
    }


def _cells(statuses: list[str], own: Sequence[str], actions: Sequence[str]) -> list[str]:
    if own == actions and len(statuses) == len(actions):
        return statuses
    known = dict(zip(own, statuses, strict=False))
    return [known.get(action, "") for action in actions]


def _numbers(counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, number in counted:
        found[name] = found.get(name, 0) + number
    return found


def _wave(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """A wave: how many of its legs have which status, and the same for each action."""
    own = [one for one in rows if one["wave"] == row["number"] + 1]
    legs: Counter[str] = Counter()
    steps: list[Counter[str]] = [Counter() for _ in (own[0]["cells"] if own else [])]
    for one in own:
        legs["unreachable" if one["away"] else one["status"]] += one["count"]
        for at, cell in enumerate(one["cells"]):
            steps[at][cell] += one["count"]
    return {
        "wave": row["number"] + 1,
        "stage": row["stage"],
        "status": row["status"],
        "soak_until": row["soak_until"],
        "systems": legs.total(),
        "legs": dict(legs),
        "steps": [dict(one) for one in steps],
    }


def rows(connection: Connection, run: str, after: int, limit: int, **only: Any) -> dict[str, Any] | None:
    """Each system as a row of its own, in the order of the waves."""
    if chain_runs.run_row(connection, run) is None:
        return None
    groups = chain_shapes.shape_groups(connection, run)
    actions, names, ids = _columns(connection, groups)
    legs = chain_shapes.leg_page(connection, run, after, limit, **only)
    made = [
        {**_row({**leg, "count": 1, "systems": [leg["system"]]}, names, ids), "place": leg["place"]}
        for leg in legs
    ]
    return {"actions": actions, "rows": made}


def causes(connection: Connection, runs: Sequence[str]) -> list[tuple[str, Cause]]:
    """Why systems of some runs have failed: those of most systems first."""
    by_run: dict[str, list[Failure]] = {}
    for row in chain_shapes.failures(connection, runs):
        failure = Failure(
            system=row["system"],
            wave=row["wave"] + 1,
            step=row["action"],
            status=row["status"],
            comment=row["comment"] or "",
            at=row["ended"],
        )
        by_run.setdefault(row["run"], []).append(failure)
    found = [(run, cause) for run, failed in by_run.items() for cause in group_causes(failed)]
    return sorted(found, key=lambda one: (-len(one[1].systems), one[1].since or 0.0))


def wave_systems(connection: Connection, run: str) -> dict[str, int]:
    """Each system of a run, and its wave."""
    return {system: wave + 1 for system, wave in chain_shapes.leg_waves(connection, run).items()}


def recent(connection: Connection, since: float, limit: int = 200) -> list[dict[str, Any]]:
    """Runs that are open or ended recently."""
    rows = chain_shapes.recent_runs(connection, since, limit)
    names = chain_names(connection, {row["chain"] for row in rows})
    return [{"run": row["id"], "chain": names[row["chain"]], "status": row["status"]} for row in rows]


def _name(connection: Connection, chain: str) -> str:
    known = chain_named(connection, chain)
    return known.name if known else chain


def chain_names(connection: Connection, chains: Iterable[str]) -> dict[str, str]:
    """The name of each chain, by its id."""
    return names_of(connection, [*chains])


def system_legs(connection: Connection, system: str, before: str, limit: int) -> list[dict[str, Any]]:
    """The legs of a system, the newest first."""
    found = []
    for row in chain_shapes.system_legs(connection, system, before, limit):
        statuses, _ = split_shape(row["shape"])
        heads = chain_shapes.step_heads(connection, row["id"])
        at = next((number for number, one in enumerate(statuses) if one in BAD), None)
        found.append(
            {
                "run": row["run"],
                "chain": _name(connection, row["chain"]),
                "version": row["version"],
                "status": row["status"],
                "run_status": row["run_status"],
                "away": row["away"],
                "wave": row["wave"] + 1,
                "begun": row["begun"] or None,
                "ended": row["ended"],
                "waits_for": waits_for(row),
                "quarantined": row["quarantined"],
                "done": sum(one in ("succeeded", "changed", "skipped") for one in statuses),
                "steps": len(statuses),
                "failed_at": heads[at]["action"] if at is not None and at < len(heads) else "",
            }
        )
    return found
