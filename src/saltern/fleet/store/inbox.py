"""What waits for a person: open gates, halted runs, legs whose end is unknown; and how long chains take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from saltern.chains.statuses import OVER, Leg, Run, Step
from saltern.fleet.store.access_tables import APPROVALS
from saltern.fleet.store.approvals import is_open
from saltern.fleet.store.chain_runs import OPEN
from saltern.fleet.store.chain_tables import (
    CHAIN_GATES,
    CHAIN_LEGS,
    CHAIN_RUNS,
    CHAIN_STEPS,
    CHAIN_VOTES,
    CHAINS,
)
from saltern.fleet.store.tables import SYSTEMS

STILL = (Run.HALTED.value, Run.PAUSED.value)
MOST = 200
STEP_RUNS, STEP_SAMPLE = 10, 2000  # runs, and steps of them, that the usual times of actions are taken from
SAMPLE = 200  # runs that the usual time of a chain is taken from


def open_gates(connection: Connection, now: float) -> list[dict[str, Any]]:
    """Gates that can be decided now, the oldest first, with their run, its chain and the votes."""
    query = (
        select(
            CHAIN_GATES,
            CHAIN_RUNS.c.target,
            CHAIN_RUNS.c.author,
            CHAIN_RUNS.c.version,
            CHAINS.c.name.label("chain"),
        )
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_GATES.c.run)
        .join(CHAINS, CHAINS.c.id == CHAIN_RUNS.c.chain)
        .where(CHAIN_GATES.c.status == "open", CHAIN_RUNS.c.ended.is_(None))
        .where((CHAIN_GATES.c.expires.is_(None)) | (CHAIN_GATES.c.expires > now))
        .order_by(CHAIN_GATES.c.opened)
        .limit(MOST)
    )
    rows = [row._asdict() for row in connection.execute(query)]
    votes = _votes(connection, [row["run"] for row in rows])
    return [{**row, "votes": votes.get((row["run"], row["name"]), [])} for row in rows]


def _votes(connection: Connection, runs: Sequence[str]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in connection.execute(select(CHAIN_VOTES).where(CHAIN_VOTES.c.run.in_(runs))):
        found.setdefault((row.run, row.gate), []).append(row._asdict())
    return found


def leg_numbers(connection: Connection, runs: Sequence[str]) -> dict[str, dict[int, int]]:
    """How many systems each run has, by the number of their wave, which begins with 0."""
    legs = CHAIN_LEGS.c
    query = select(legs.run, legs.wave, func.count()).where(legs.run.in_(runs)).group_by(legs.run, legs.wave)
    found: dict[str, dict[int, int]] = {}
    for run, wave, number in connection.execute(query):
        found.setdefault(str(run), {})[int(wave)] = int(number)
    return found


def still_runs(connection: Connection) -> list[dict[str, Any]]:
    """Runs that halted or were paused, the oldest first."""
    query = (
        select(
            CHAIN_RUNS.c.id, CHAIN_RUNS.c.status, CHAIN_RUNS.c.halted, CHAIN_RUNS.c.created, CHAIN_RUNS.c.seen
        )
        .add_columns(CHAIN_RUNS.c.deadline, CHAIN_RUNS.c.author, CHAINS.c.name.label("chain"))
        .join(CHAINS, CHAINS.c.id == CHAIN_RUNS.c.chain)
        .where(CHAIN_RUNS.c.status.in_(STILL))
        .order_by(CHAIN_RUNS.c.id)
        .limit(MOST)
    )
    return [row._asdict() for row in connection.execute(query)]


def unknown_legs(connection: Connection, since: float) -> list[dict[str, Any]]:
    """Runs with legs whose end is unknown: how many, and one of them."""
    query = (
        select(
            CHAIN_LEGS.c.run,
            func.count().label("systems"),
            func.min(CHAIN_LEGS.c.system).label("system"),
            func.max(CHAIN_LEGS.c.ended).label("since"),
            CHAINS.c.name.label("chain"),
        )
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .join(CHAINS, CHAINS.c.id == CHAIN_RUNS.c.chain)
        .where(CHAIN_LEGS.c.status == Leg.INDETERMINATE.value, CHAIN_RUNS.c.created >= since)
        .group_by(CHAIN_LEGS.c.run, CHAINS.c.name)
        .order_by(CHAIN_LEGS.c.run)
        .limit(MOST)
    )
    return [row._asdict() for row in connection.execute(query)]


def pending_keys(connection: Connection, some: int = 5) -> tuple[int, list[tuple[str, float]]]:
    """How many systems wait to be accepted, and the first of them."""
    mine = SYSTEMS.c.state == "pending"
    number = int(connection.scalar(select(func.count()).select_from(SYSTEMS).where(mine)) or 0)
    query = select(SYSTEMS.c.id, SYSTEMS.c.first_seen).where(mine).order_by(SYSTEMS.c.first_seen).limit(some)
    return number, [(str(row.id), float(row.first_seen)) for row in connection.execute(query)]


def count_waiting(connection: Connection, now: float, since: float) -> int:
    """How many things wait for a person: what the lists above have, counted by the database."""
    gates, runs, legs = CHAIN_GATES.c, CHAIN_RUNS.c, CHAIN_LEGS.c
    in_time = gates.expires.is_(None) | (gates.expires > now)
    opened = select(func.count(gates.run.distinct())).join(CHAIN_RUNS, runs.id == gates.run)
    unknown = select(func.count(legs.run.distinct())).join(CHAIN_RUNS, runs.id == legs.run)
    pending = select(SYSTEMS.c.id).where(SYSTEMS.c.state == "pending").limit(1).subquery()
    counts = (
        opened.where(gates.status == "open", runs.ended.is_(None), in_time),
        unknown.where(legs.status == Leg.INDETERMINATE.value, runs.created >= since),
        select(func.count()).select_from(CHAIN_RUNS).where(runs.status.in_(STILL)),
        select(func.count()).select_from(pending),
        select(func.count()).select_from(APPROVALS).where(is_open(now)),
    )
    return sum(connection.execute(select(*(one.scalar_subquery() for one in counts))).one())


def held_systems(connection: Connection) -> dict[tuple[str, str], frozenset[str]]:
    """Systems that an open run has, by the run and its chain; each system once."""
    over = [one.value for one in OVER]
    query = (
        select(CHAIN_LEGS.c.system, CHAIN_LEGS.c.run, CHAINS.c.name)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .join(CHAINS, CHAINS.c.id == CHAIN_RUNS.c.chain)
        .where(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_LEGS.c.sent != "", CHAIN_LEGS.c.status.not_in(over))
    )
    runs = {system: (run, chain) for system, run, chain in connection.execute(query).all()}
    found: dict[tuple[str, str], set[str]] = {}
    for system, pair in runs.items():
        found.setdefault(pair, set()).add(system)
    return {pair: frozenset(systems) for pair, systems in found.items()}


def away_systems(connection: Connection) -> set[str]:
    """Accepted systems that are not connected."""
    query = select(SYSTEMS.c.id).where(SYSTEMS.c.state == "accepted", SYSTEMS.c.online.is_(False))
    return {str(one) for one in connection.scalars(query).all()}


def usual_times(connection: Connection, chain: str) -> tuple[float, float] | None:
    """Seconds that half of the last runs of a chain took at most, and 19 of 20; None if none has ended."""
    query = (
        select(CHAIN_RUNS.c.ended - CHAIN_RUNS.c.begun)
        .where(CHAIN_RUNS.c.chain == chain, CHAIN_RUNS.c.ended.is_not(None), CHAIN_RUNS.c.begun.is_not(None))
        .order_by(CHAIN_RUNS.c.id.desc())
        .limit(SAMPLE)
    )
    took = sorted(map(float, connection.scalars(query).all()))
    if not took:
        return None
    return took[(len(took) - 1) // 2], took[min(len(took) - 1, int(len(took) * 0.95))]


def usual_steps(connection: Connection, chain: str) -> dict[str, float]:
    """Seconds that half of the last successful times of each action of a chain took at most."""
    runs = (
        select(CHAIN_RUNS.c.id)
        .where(CHAIN_RUNS.c.chain == chain)
        .order_by(CHAIN_RUNS.c.id.desc())
        .limit(STEP_RUNS)
    )
    query = (
        select(CHAIN_STEPS.c.action, CHAIN_STEPS.c.took)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_STEPS.c.leg)
        .where(CHAIN_LEGS.c.run.in_(runs), CHAIN_STEPS.c.status == Step.SUCCEEDED.value)
        .limit(STEP_SAMPLE)
    )
    found: dict[str, list[float]] = {}
    for action, took in connection.execute(query):
        found.setdefault(str(action), []).append(float(took))
    return {action: sorted(times)[(len(times) - 1) // 2] for action, times in found.items()}
