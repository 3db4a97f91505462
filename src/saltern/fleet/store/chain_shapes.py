"""Views of runs with many systems: grouped by the database, so that no page reads every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import json
from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from saltern.chains.statuses import OVER
from saltern.fleet.store.chain_runs import OPEN
from saltern.fleet.store.chain_tables import CHAIN_ATTEMPTS, CHAIN_LEGS, CHAIN_RUNS, CHAIN_STEPS
from saltern.fleet.store.tables import EVENTS

Row = Mapping[str, Any]
NAMED = 5  # systems of a group that are named
BAD_STEPS = ("failed", "timed out", "indeterminate")
BAD_LEGS = ("failed", "expired", "indeterminate")
BAD_LETTERS = frozenset("ftu")  # the same in a shape
AT_ONCE = 500
MOST_EVENTS = 200_000
_L = CHAIN_LEGS.c


def _dicts(connection: Connection, query: Select[Any]) -> list[Row]:
    """The rows of a query by the names of its columns."""
    found = connection.execute(query)
    names = tuple(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found.all()]


def shape_groups(connection: Connection, run: str) -> list[Row]:
    """Legs of one wave, status and shape together, with how many they are and when they began and ended."""
    keys = (_L.wave, _L.status, _L.away, _L.shape)
    query = (
        select(
            *keys,
            func.count().label("count"),
            func.min(_L.begun).label("begun"),
            func.max(_L.ended).label("ended"),
            func.min(_L.waits_for).label("waits_for"),
            func.min(_L.id).label("leg"),
        )
        .where(_L.run == run)
        .group_by(*keys)
    )
    return _dicts(connection, query)


def named_systems(connection: Connection, run: str) -> dict[tuple[Any, ...], list[str]]:
    """Some systems of each of those groups."""
    keys = (_L.wave, _L.status, _L.away, _L.shape)
    number = func.row_number().over(partition_by=keys, order_by=_L.place).label("number")
    inner = select(*keys, _L.system, number).where(_L.run == run).subquery()
    query = select(inner).where(inner.c.number <= NAMED).order_by(inner.c.number)
    found: dict[tuple[Any, ...], list[str]] = {}
    for row in connection.execute(query):
        found.setdefault((row.wave, row.status, bool(row.away), row.shape), []).append(str(row.system))
    return found


def leg_page(
    connection: Connection, run: str, after: int, limit: int, *, wave: int | None, status: str
) -> list[Row]:
    """Legs by place, with their shapes."""
    query = select(CHAIN_LEGS).where(_L.run == run, _L.place > after).order_by(_L.place).limit(limit)
    if wave is not None:
        query = query.where(_L.wave == wave)
    if status:
        query = query.where(_L.status == status)
    return _dicts(connection, query)


def step_heads(connection: Connection, leg: str) -> list[Row]:
    """The steps of a leg, without their results."""
    columns = (CHAIN_STEPS.c.action, CHAIN_STEPS.c.kind, CHAIN_STEPS.c.final)
    query = select(*columns).where(CHAIN_STEPS.c.leg == leg).order_by(CHAIN_STEPS.c.number)
    return _dicts(connection, query)


def timed_steps(connection: Connection, run: str) -> Sequence[Any]:
    """Leg, status, changed, started and ended of every step of a run, by leg and number."""
    columns = (_L.id, CHAIN_STEPS.c.status, CHAIN_STEPS.c.changed, CHAIN_STEPS.c.started, CHAIN_STEPS.c.ended)
    query = select(*columns).join(CHAIN_STEPS, CHAIN_STEPS.c.leg == _L.id).where(_L.run == run)
    return connection.execute(query.order_by(_L.place, CHAIN_STEPS.c.number)).all()


def leg_waves(connection: Connection, run: str) -> dict[str, int]:
    """Each system of a run, and the number of its wave."""
    rows = connection.execute(select(_L.system, _L.wave).where(_L.run == run)).all()
    return {str(system): int(wave) for system, wave in rows}


def leg_marks(connection: Connection, run: str) -> list[Row]:
    """The status columns of each leg of a run, by place; not its plan."""
    columns = (_L.id, _L.system, _L.wave, _L.status, _L.away, _L.sent, _L.waits_for, _L.state)
    query = select(*columns, _L.shape, _L.begun, _L.ended).where(_L.run == run).order_by(_L.place)
    return _dicts(connection, query)


def failures(connection: Connection, runs: Sequence[str]) -> list[Row]:
    """Steps that have failed, and legs that ended badly without one, of some runs.

    The shape of a leg says whether one of its steps is bad; only such legs are read.
    """
    columns = (_L.id, _L.run, _L.system, _L.wave, _L.status, _L.waits_for, _L.ended)
    query = select(*columns).where(_L.run.in_(runs), _is_bad()).order_by(_L.place)
    legs = {row.id: row for row in connection.execute(query).all()}
    steps: dict[str, list[Any]] = {}
    for row in _bad_steps(connection, list(legs)):
        steps.setdefault(row.leg, []).append(row)
    return [one for id_, leg in legs.items() for one in _failures(leg, steps.get(id_, []))]


def step_notes(connection: Connection, run: str) -> dict[tuple[str, str], str]:
    """The notes of each failed step of a run, by leg and action."""
    legs = connection.scalars(select(_L.id).where(_L.run == run, _is_bad())).all()
    rows = _bad_steps(connection, legs)
    return {(str(row.leg), str(row.action)): str(row.note or row.comment) for row in rows}


def running_since(connection: Connection, run: str) -> dict[str, float]:
    """When what runs now began, by leg."""
    step = CHAIN_STEPS.c
    query = select(step.leg, step.started).join(CHAIN_LEGS, _L.id == step.leg)
    running = and_(_L.run == run, _L.status.not_in([one.value for one in OVER]), step.status == "running")
    return {str(leg): float(at) for leg, at in connection.execute(query.where(running)) if at}


def _is_bad() -> ColumnElement[bool]:
    """It ended badly, or one of its steps did: that has a letter before the colon of the shape."""
    return or_(_L.status.in_(BAD_LEGS), *(_L.shape.like(f"%{one}%:%") for one in sorted(BAD_LETTERS)))


def _bad_steps(connection: Connection, legs: Sequence[str]) -> Iterator[Any]:
    step = CHAIN_STEPS.c
    columns = (step.leg, step.action, step.status, step.comment, step.ended, step.note)
    for first in range(0, len(legs), AT_ONCE):
        mine = step.leg.in_(legs[first : first + AT_ONCE])
        yield from connection.execute(
            select(*columns).where(mine, step.status.in_(BAD_STEPS)).order_by(step.leg, step.number)
        )


def _failures(leg: Any, steps: Sequence[Any]) -> Iterator[Row]:
    """What failed in a leg: its bad steps; the leg itself, if it ended badly without one."""
    head = {"run": leg.run, "system": leg.system, "wave": leg.wave}
    for one in steps:
        yield {**head, "action": one.action, "status": one.status, "comment": one.comment, "ended": one.ended}
    if not steps and leg.status in BAD_LEGS:
        yield {**head, "action": "", "status": leg.status, "comment": leg.waits_for, "ended": leg.ended}


def recent_runs(connection: Connection, since: float, limit: int) -> list[Row]:
    """Runs that are open or ended recently, the newest first."""
    lately = or_(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_RUNS.c.ended >= since)
    columns = (CHAIN_RUNS.c.id, CHAIN_RUNS.c.chain, CHAIN_RUNS.c.status)
    query = select(*columns).where(lately).order_by(CHAIN_RUNS.c.id.desc()).limit(limit)
    return _dicts(connection, query)


def system_legs(connection: Connection, system: str, before: str, limit: int) -> list[Row]:
    """The legs of a system, the newest first; ids of runs grow with time."""
    columns = (CHAIN_RUNS.c.chain, CHAIN_RUNS.c.version, CHAIN_RUNS.c.status.label("run_status"))
    query = select(CHAIN_LEGS, *columns).join(CHAIN_RUNS, CHAIN_RUNS.c.id == _L.run)
    query = query.where(_L.system == system).order_by(_L.run.desc()).limit(limit)
    query = query.where(_L.run < before) if before else query
    return _dicts(connection, query)


class HoldingLeg(NamedTuple):
    """A leg that holds its system, or has ended badly lately, and what it waits for."""

    system: str
    run: str
    chain: str
    status: str
    waits_for: str


def holding_legs(connection: Connection, since: float) -> list[HoldingLeg]:
    """Those of all systems, the newest run last."""
    over = [one.value for one in OVER]
    opened = select(CHAIN_RUNS.c.id).where(CHAIN_RUNS.c.status.in_(OPEN))
    held = and_(_L.run.in_(opened), _L.status.not_in(over), _L.sent != "")
    bad = and_(_L.status.in_(BAD_LEGS), _L.ended >= since)  # each by its own index
    columns = (_L.system, _L.run, CHAIN_RUNS.c.chain, _L.status, _L.waits_for)
    query = select(*columns).join(CHAIN_RUNS, CHAIN_RUNS.c.id == _L.run)
    rows = [row for mine in (held, bad) for row in connection.execute(query.where(mine)).all()]
    return sorted(map(HoldingLeg._make, rows), key=attrgetter("run"))


def run_events(connection: Connection, run: str, after: int = 0) -> list[Row]:
    """The events of a run after a number, the oldest first."""
    tag = f"saltern/chain/{run}/"
    mine = and_(EVENTS.c.tag >= tag, EVENTS.c.tag < tag[:-1] + "0")  # the character after the slash
    query = select(EVENTS.c.number, EVENTS.c.at, EVENTS.c.data).where(mine, EVENTS.c.number > after)
    rows = connection.execute(query.order_by(EVENTS.c.number).limit(MOST_EVENTS))
    return [{"number": number, "at": at, "data": json.decode(data)} for number, at, data in rows]


def attempts_of(connection: Connection, leg: str) -> list[Row]:
    """Each try of each step of a leg."""
    order = (CHAIN_ATTEMPTS.c.step, CHAIN_ATTEMPTS.c.number)
    query = select(CHAIN_ATTEMPTS).where(CHAIN_ATTEMPTS.c.leg == leg).order_by(*order)
    return _dicts(connection, query)
