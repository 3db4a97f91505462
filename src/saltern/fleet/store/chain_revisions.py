"""Revisions of runs: the inputs of each, and whether it is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from saltern.fleet.store.chain_tables import CHAIN_REVISIONS

Row = Mapping[str, Any]
OPEN, IN_FORCE, REJECTED, EXPIRED = "waits for approval", "in force", "rejected", "expired"


def next_number(connection: Connection, run: str) -> int:
    newest = select(func.max(CHAIN_REVISIONS.c.number)).where(CHAIN_REVISIONS.c.run == run)
    return int(connection.scalar(newest) or 0) + 1


def add_revision(connection: Connection, row: Row) -> None:
    connection.execute(insert(CHAIN_REVISIONS).values(dict(row)))


def revision_row(connection: Connection, run: str, number: int) -> Row | None:
    mine = (CHAIN_REVISIONS.c.run == run) & (CHAIN_REVISIONS.c.number == number)
    row = connection.execute(select(CHAIN_REVISIONS).where(mine)).one_or_none()
    return None if row is None else row._asdict()


def revision_rows(connection: Connection, run: str) -> list[Row]:
    """All revisions of a run, oldest first."""
    query = select(CHAIN_REVISIONS).where(CHAIN_REVISIONS.c.run == run).order_by(CHAIN_REVISIONS.c.number)
    return [row._asdict() for row in connection.execute(query)]


def set_status(connection: Connection, run: str, number: int, status: str) -> None:
    mine = (CHAIN_REVISIONS.c.run == run) & (CHAIN_REVISIONS.c.number == number)
    connection.execute(update(CHAIN_REVISIONS).where(mine).values(status=status))
