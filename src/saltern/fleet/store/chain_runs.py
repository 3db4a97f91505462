"""Runs of chains: stored completely when they are made, then changed row by row under ``row_version``.

What a row means is decided elsewhere. Each function takes a connection, so that a decision, its rows and
the orders that follow from it are one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import json
from sqlalchemy import Connection, Table, and_, bindparam, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from saltern.chains.statuses import ENDS, OVER, Run, Wave
from saltern.fleet.store.chain_tables import (
    CHAIN_ATTEMPTS,
    CHAIN_LEGS,
    CHAIN_ORDERS,
    CHAIN_RUNS,
    CHAIN_STEPS,
    CHAIN_WAVES,
)
from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import SYSTEMS

Row = Mapping[str, Any]
AT_ONCE = 500  # rows in one statement
OPEN = [one.value for one in Run if one not in ENDS]


def lock_run(connection: Connection, run: str) -> None:
    """Let one transaction at a time decide about a run."""
    serialize(connection, f"chain run {run}")


def lock_tokens(connection: Connection, author: str) -> None:
    """Let one transaction at a time look for a client token of a person and use it."""
    serialize(connection, f"chain token of {author}")


def add_run(
    connection: Connection, run: Row, waves: Sequence[Row], legs: Sequence[Row], steps: Sequence[Row]
) -> None:
    """Store a run with all its parts."""
    connection.execute(insert(CHAIN_RUNS).values(dict(run)))
    for table, rows in ((CHAIN_WAVES, waves), (CHAIN_LEGS, legs), (CHAIN_STEPS, steps)):
        for some in _batches(rows):
            connection.execute(insert(table), [dict(row) for row in some])


def run_row(connection: Connection, run: str) -> Row | None:
    return _one(connection, CHAIN_RUNS, CHAIN_RUNS.c.id == run)


def run_of_token(connection: Connection, author: str, token: str) -> Row | None:
    return _one(
        connection, CHAIN_RUNS, and_(CHAIN_RUNS.c.author == author, CHAIN_RUNS.c.client_token == token)
    )


def run_rows(
    connection: Connection, *, chain: str = "", is_open: bool = False, limit: int = 50, before: str = ""
) -> list[Row]:
    """Runs, the newest first; their ids grow with time."""
    query = select(CHAIN_RUNS).order_by(CHAIN_RUNS.c.id.desc()).limit(limit)
    for wanted, condition in (
        (chain, CHAIN_RUNS.c.chain == chain),
        (is_open, CHAIN_RUNS.c.status.in_(OPEN)),
        (before, CHAIN_RUNS.c.id < before),
    ):
        query = query.where(condition) if wanted else query
    return [row._asdict() for row in connection.execute(query)]


def due_runs(connection: Connection, now: float) -> list[str]:
    """Runs for which time alone changes something now."""
    every = [one.value for one in Run]  # also those that are over: a lost system is asked to end
    late = and_(CHAIN_RUNS.c.status.in_(every), CHAIN_RUNS.c.next_wakeup <= now)
    query = select(CHAIN_RUNS.c.id).where(or_(late, CHAIN_RUNS.c.status == Run.SCHEDULED.value))
    return [str(run) for run in connection.scalars(query)]


def open_legs_of(connection: Connection, system: str) -> list[tuple[str, str]]:
    """Run and leg of each leg of a system that was sent and is not over."""
    over = [one.value for one in OVER]
    mine = and_(CHAIN_LEGS.c.system == system, CHAIN_LEGS.c.status.not_in(over), CHAIN_LEGS.c.sent != "")
    rows = connection.execute(select(CHAIN_LEGS.c.run, CHAIN_LEGS.c.id).where(mine))
    return [(str(run), str(leg)) for run, leg in rows]


def open_systems(connection: Connection) -> dict[str, list[tuple[str, str, bool]]]:
    """Each open run: its legs that were sent and are not over, their systems, and whether they are away."""
    over = [one.value for one in OVER]
    query = (
        select(CHAIN_LEGS.c.run, CHAIN_LEGS.c.id, CHAIN_LEGS.c.system, CHAIN_LEGS.c.away)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .where(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_LEGS.c.sent != "", CHAIN_LEGS.c.status.not_in(over))
    )
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for row in connection.execute(query):
        found.setdefault(str(row.run), []).append((str(row.id), str(row.system), bool(row.away)))
    return found


def unfinished_systems(connection: Connection) -> dict[str, list[tuple[str, str, tuple[str, float]]]]:
    """Each open run: its legs that are not over, their systems, why they have no open window, and when the
    one that they have ends."""
    over = [one.value for one in OVER]
    query = (
        select(CHAIN_LEGS.c.run, CHAIN_LEGS.c.id, CHAIN_LEGS.c.system, CHAIN_LEGS.c.state)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .where(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_LEGS.c.status.not_in(over))
    )
    found: dict[str, list[tuple[str, str, tuple[str, float]]]] = {}
    for row in connection.execute(query):
        state = json.decode(row.state)
        window = (str(state.get("shut", "")), float(state.get("window_until", 0)))
        found.setdefault(str(row.run), []).append((str(row.id), str(row.system), window))
    return found


def gone_legs(connection: Connection) -> list[tuple[str, str, str]]:
    """Run and leg of each open leg whose system is not admitted, and the state of its key, if it has one."""
    over = [one.value for one in OVER]
    query = (
        select(CHAIN_LEGS.c.run, CHAIN_LEGS.c.id, SYSTEMS.c.state)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .outerjoin(SYSTEMS, SYSTEMS.c.id == CHAIN_LEGS.c.system)
        .where(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_LEGS.c.status.not_in(over))
        .where(or_(SYSTEMS.c.id.is_(None), SYSTEMS.c.state != "accepted"))
    )
    return [(str(run), str(leg), str(state or "")) for run, leg, state in connection.execute(query)]


def open_deadlines(connection: Connection) -> dict[str, float]:
    """The deadline of each open run."""
    query = select(CHAIN_RUNS.c.id, CHAIN_RUNS.c.deadline).where(CHAIN_RUNS.c.status.in_(OPEN))
    return {str(run): float(deadline) for run, deadline in connection.execute(query)}


def first_leg_row(connection: Connection, run: str) -> Row | None:
    query = select(CHAIN_LEGS).where(CHAIN_LEGS.c.run == run).order_by(CHAIN_LEGS.c.place).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else row._asdict()


def wave_rows(connection: Connection, run: str) -> list[Row]:
    return _all(connection, CHAIN_WAVES, CHAIN_WAVES.c.run == run, CHAIN_WAVES.c.number)


def soaking_waves(connection: Connection) -> list[tuple[str, int, bytes]]:
    """Run, number and state of each wave of an open run that soaks."""
    query = (
        select(CHAIN_WAVES.c.run, CHAIN_WAVES.c.number, CHAIN_WAVES.c.state)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_WAVES.c.run)
        .where(CHAIN_RUNS.c.status.in_(OPEN), CHAIN_WAVES.c.status == Wave.SOAKING.value)
    )
    return [(str(run), int(number), bytes(state)) for run, number, state in connection.execute(query)]


def leg_rows(connection: Connection, run: str) -> list[Row]:
    return _all(connection, CHAIN_LEGS, CHAIN_LEGS.c.run == run, CHAIN_LEGS.c.place)


def leg_row(connection: Connection, leg: str) -> Row | None:
    return _one(connection, CHAIN_LEGS, CHAIN_LEGS.c.id == leg)


def step_rows(connection: Connection, run: str) -> list[tuple[Any, ...]]:
    """All steps of a run, by leg and number, as bare tuples of ``STEP_COLUMNS``."""
    query = (
        select(*STEP_COLUMNS)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_STEPS.c.leg)
        .where(CHAIN_LEGS.c.run == run)
        .order_by(CHAIN_LEGS.c.place, CHAIN_STEPS.c.number)
    )
    return [tuple(row) for row in connection.execute(query)]


def steps_of(connection: Connection, leg: str) -> list[tuple[Any, ...]]:
    """The steps of one leg, as bare tuples of ``STEP_COLUMNS``."""
    query = select(*STEP_COLUMNS).where(CHAIN_STEPS.c.leg == leg).order_by(CHAIN_STEPS.c.number)
    return [tuple(row) for row in connection.execute(query)]


STEP_COLUMNS = list(CHAIN_STEPS.c)
STEP_NAMES = [column.name for column in STEP_COLUMNS]


def attempt_rows(connection: Connection, run: str) -> list[Row]:
    query = (
        select(CHAIN_ATTEMPTS)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_ATTEMPTS.c.leg)
        .where(CHAIN_LEGS.c.run == run)
        .order_by(CHAIN_ATTEMPTS.c.leg, CHAIN_ATTEMPTS.c.step, CHAIN_ATTEMPTS.c.number)
    )
    return [row._asdict() for row in connection.execute(query)]


def matrix_rows(connection: Connection, run: str) -> Sequence[Any]:
    """System, action, status, blocked by, changed: all that a matrix shows of a run."""
    query = (
        select(
            CHAIN_LEGS.c.system,
            CHAIN_STEPS.c.action,
            CHAIN_STEPS.c.status,
            CHAIN_STEPS.c.blocked_by,
            CHAIN_STEPS.c.changed,
        )
        .join(CHAIN_STEPS, CHAIN_STEPS.c.leg == CHAIN_LEGS.c.id)
        .where(CHAIN_LEGS.c.run == run)
        .order_by(CHAIN_LEGS.c.place, CHAIN_STEPS.c.number)
    )
    return connection.execute(query).all()  # rows are tuples: no copy of many thousands of them


def leg_counts(connection: Connection, runs: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many legs of each run have which status."""
    query = select(CHAIN_LEGS.c.run, CHAIN_LEGS.c.status, func.count()).where(CHAIN_LEGS.c.run.in_(runs))
    found: dict[str, dict[str, int]] = {run: {} for run in runs}
    for run, status, number in connection.execute(query.group_by(CHAIN_LEGS.c.run, CHAIN_LEGS.c.status)):
        found[str(run)][str(status)] = int(number)
    return found


# -- changes ------------------------------------------------------------------------------------------


def change_run(connection: Connection, run: str, row_version: int, values: Row) -> bool:
    """Write values, if the run is as it was read; True if it was."""
    mine = and_(CHAIN_RUNS.c.id == run, CHAIN_RUNS.c.row_version == row_version)
    change = update(CHAIN_RUNS).where(mine).values(**values, row_version=row_version + 1)
    return connection.execute(change).rowcount == 1


def change_waves(connection: Connection, rows: Sequence[Row]) -> None:
    _update(connection, CHAIN_WAVES, ("run", "number"), rows)


def change_legs(connection: Connection, rows: Sequence[Row]) -> None:
    _update(connection, CHAIN_LEGS, ("id",), rows)


def revise_legs(connection: Connection, legs: Mapping[str, str], revision: int) -> None:
    """Give legs another plan, by its digest: a revision, and an epoch in which older orders do not count."""
    for leg, sha256 in legs.items():
        values = {
            "plan_sha256": sha256,
            "plan_revision": revision,
            "epoch": CHAIN_LEGS.c.epoch + 1,
        }
        connection.execute(update(CHAIN_LEGS).where(CHAIN_LEGS.c.id == leg).values(values))


def set_plan(connection: Connection, run: str, sha256: str) -> None:
    """Set the current plan of the run, by its digest."""
    connection.execute(update(CHAIN_RUNS).where(CHAIN_RUNS.c.id == run).values(plan_sha256=sha256))


def change_steps(connection: Connection, rows: Sequence[Row]) -> None:
    _update(connection, CHAIN_STEPS, ("leg", "number"), rows)


def put_attempts(connection: Connection, rows: Sequence[Row]) -> None:
    """Add attempts, or replace what is known of them."""
    put(connection, CHAIN_ATTEMPTS, ("leg", "step", "number"), rows)


def add_order(connection: Connection, row: Row) -> None:
    """Record an operator's order, and its result."""
    connection.execute(insert(CHAIN_ORDERS).values(dict(row)))


def order_rows(connection: Connection, run: str) -> list[Row]:
    return _all(connection, CHAIN_ORDERS, CHAIN_ORDERS.c.run == run, CHAIN_ORDERS.c.number)


# -- statements ---------------------------------------------------------------------------------------


def _one(connection: Connection, table: Table, condition: Any) -> Row | None:
    row = connection.execute(select(table).where(condition)).one_or_none()
    return None if row is None else row._asdict()


def _all(connection: Connection, table: Table, condition: Any, order: Any) -> list[Row]:
    return [row._asdict() for row in connection.execute(select(table).where(condition).order_by(order))]


def _update(connection: Connection, table: Table, keys: Sequence[str], rows: Sequence[Row]) -> None:
    """Rows that change the same columns share a statement."""
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        names = tuple(sorted(set(row) - set(keys)))
        by_columns.setdefault(names, []).append({f"of_{name}": value for name, value in row.items()})
    for names, some in by_columns.items():
        mine = and_(*(table.c[key] == bindparam(f"of_{key}") for key in keys))
        statement = update(table).where(mine).values({name: bindparam(f"of_{name}") for name in names})
        connection.execute(statement, some)


def put(connection: Connection, table: Table, keys: Sequence[str], rows: Sequence[Row]) -> None:
    """Add rows, or replace those with the same keys."""
    if not rows:
        return
    make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = make(table)
    rest = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    statement = statement.on_conflict_do_update(index_elements=list(keys), set_=rest)
    connection.execute(statement, [dict(row) for row in rows])


def _batches(rows: Sequence[Row]) -> Iterable[Sequence[Row]]:
    return (rows[first : first + AT_ONCE] for first in range(0, len(rows), AT_ONCE))
