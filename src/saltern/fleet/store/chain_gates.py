"""Gates of runs, and who has voted on them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select, update

from saltern.fleet.store.chain_tables import CHAIN_GATES, CHAIN_VOTES

OPEN, APPROVED, REJECTED, EXPIRED = "open", "approved", "rejected", "expired"


def add_gates(connection: Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(CHAIN_GATES), rows)


def gate_row(connection: Connection, run: str, name: str) -> dict[str, Any] | None:
    mine = (CHAIN_GATES.c.run == run) & (CHAIN_GATES.c.name == name)
    row = connection.execute(select(CHAIN_GATES).where(mine)).one_or_none()
    return None if row is None else row._asdict()


def gate_rows(connection: Connection, run: str) -> list[dict[str, Any]]:
    query = select(CHAIN_GATES).where(CHAIN_GATES.c.run == run).order_by(CHAIN_GATES.c.name)
    return [row._asdict() for row in connection.execute(query)]


def open_gate_names(connection: Connection, runs: list[str]) -> dict[str, list[str]]:
    """The gates that are open, by run."""
    query = select(CHAIN_GATES.c.run, CHAIN_GATES.c.name).where(
        CHAIN_GATES.c.run.in_(runs), CHAIN_GATES.c.status == OPEN
    )
    found: dict[str, list[str]] = {}
    for run, name in connection.execute(query.order_by(CHAIN_GATES.c.name)):
        found.setdefault(run, []).append(name)
    return found


def vote_rows(connection: Connection, run: str, gate: str = "") -> list[dict[str, Any]]:
    query = select(CHAIN_VOTES).where(CHAIN_VOTES.c.run == run).order_by(CHAIN_VOTES.c.at)
    query = query.where(CHAIN_VOTES.c.gate == gate) if gate else query
    return [row._asdict() for row in connection.execute(query)]


def add_vote(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(insert(CHAIN_VOTES).values(row))


def close_gate(connection: Connection, run: str, name: str, status: str, now: float) -> None:
    mine = (CHAIN_GATES.c.run == run) & (CHAIN_GATES.c.name == name)
    connection.execute(update(CHAIN_GATES).where(mine).values(status=status, decided=now))


def expired_gates(connection: Connection, now: float) -> list[tuple[str, str]]:
    """Run and name of each gate whose time is over."""
    late = (CHAIN_GATES.c.status == OPEN) & (CHAIN_GATES.c.expires <= now)
    rows = connection.execute(select(CHAIN_GATES.c.run, CHAIN_GATES.c.name).where(late))
    return [(str(row.run), str(row.name)) for row in rows]
