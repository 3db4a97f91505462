"""What actions of chains have printed: one row for each stream of each attempt of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Result, select

from saltern.fleet.store.chain_runs import put
from saltern.fleet.store.chain_tables import CHAIN_LEGS, CHAIN_OUTPUTS, CHAIN_STEPS

Row = Mapping[str, Any]
KEYS = ("leg", "step", "attempt", "stream")
ORDER = (CHAIN_OUTPUTS.c.step, CHAIN_OUTPUTS.c.attempt, CHAIN_OUTPUTS.c.stream.desc())


def put_outputs(connection: Connection, rows: Sequence[Row]) -> None:
    """Add what was printed, or replace what is known of it."""
    put(connection, CHAIN_OUTPUTS, KEYS, rows)


def sizes(connection: Connection, leg: str) -> dict[tuple[Any, ...], tuple[int, bool]]:
    """Of each step, attempt and stream of a leg: how much was printed, and whether some is left out."""
    columns = [CHAIN_OUTPUTS.c[name] for name in (*KEYS[1:], "size", "cut")]
    rows = connection.execute(select(*columns).where(CHAIN_OUTPUTS.c.leg == leg))
    return {tuple(row)[:3]: (int(row.size), bool(row.cut)) for row in rows}


def output_rows(
    connection: Connection, leg: str, *, action: str = "", attempt: int | None = None
) -> list[dict[str, Any]]:
    """What was printed on one system, in the order of the actions; of one action, if it is named."""
    same = (CHAIN_STEPS.c.leg == CHAIN_OUTPUTS.c.leg) & (CHAIN_STEPS.c.number == CHAIN_OUTPUTS.c.step)
    query = (
        select(CHAIN_OUTPUTS, CHAIN_STEPS.c.action)
        .join(CHAIN_STEPS, same)
        .where(CHAIN_OUTPUTS.c.leg == leg)
        .order_by(*ORDER)
    )
    query = query.where(CHAIN_STEPS.c.action == action) if action else query
    query = query.where(CHAIN_OUTPUTS.c.attempt == attempt) if attempt is not None else query
    return _dicts(connection.execute(query))


def run_sizes(connection: Connection, run: str) -> list[dict[str, Any]]:
    """Of a whole run: system, action, attempt, stream, how much was printed, and whether some is left out."""
    same = (CHAIN_STEPS.c.leg == CHAIN_OUTPUTS.c.leg) & (CHAIN_STEPS.c.number == CHAIN_OUTPUTS.c.step)
    columns = [CHAIN_OUTPUTS.c[name] for name in ("attempt", "stream", "size", "cut")]
    query = (
        select(CHAIN_LEGS.c.system, CHAIN_STEPS.c.action, *columns)
        .join(CHAIN_STEPS, same)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_OUTPUTS.c.leg)
        .where(CHAIN_LEGS.c.run == run)
        .order_by(CHAIN_LEGS.c.place, *ORDER)
    )
    return _dicts(connection.execute(query))


def _dicts(rows: Result[Any]) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row._asdict().items()} for row in rows]
