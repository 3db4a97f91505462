"""Plans of runs: written down when their dry run begins, sealed once when it is over.

A plan has the number of the job that is its dry run. It is open until it has a digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update

from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.chain_tables import CHAIN_PLANS

Row = Mapping[str, Any]
LEAST = 8  # characters of a digest that name a plan


def add_plan(connection: Connection, row: Row) -> None:
    connection.execute(insert(CHAIN_PLANS).values({"sha256": "", "facts": "", **row}))


def seal_plan(connection: Connection, plan: str, values: Row) -> bool:
    """Give an open plan its digest and its body; False if it is sealed already."""
    mine = (CHAIN_PLANS.c.id == plan) & (CHAIN_PLANS.c.sha256 == "")
    return connection.execute(update(CHAIN_PLANS).where(mine).values(dict(values))).rowcount == 1


def plans_named(connection: Connection, name: str) -> list[Row]:
    """The plans that this number, digest or beginning of a digest names, the newest first."""
    named = or_(CHAIN_PLANS.c.id == name, CHAIN_PLANS.c.sha256 == name)
    if len(name) >= LEAST and set(name) <= set("0123456789abcdef"):
        named = or_(named, CHAIN_PLANS.c.sha256.startswith(name))
    query = select(CHAIN_PLANS).where(named).order_by(CHAIN_PLANS.c.id.desc()).limit(20)
    return [row._asdict() for row in connection.execute(query)]


def plan_rows(connection: Connection, *, chain: str = "", before: str = "", limit: int = 50) -> list[Row]:
    """Plans without their bodies, the newest first; their numbers grow with time."""
    columns = [column for column in CHAIN_PLANS.c if column.name != "body"]
    query = select(*columns).order_by(CHAIN_PLANS.c.id.desc()).limit(limit)
    query = query.where(CHAIN_PLANS.c.chain == chain) if chain else query
    query = query.where(CHAIN_PLANS.c.id < before) if before else query
    return [row._asdict() for row in connection.execute(query)]


def has_open_plans(connection: Connection) -> bool:
    """True if the dry run of a plan was not read yet."""
    return bool(fetch(connection, _OPEN_ID))


_OPEN_ID = select(CHAIN_PLANS.c.id).where(CHAIN_PLANS.c.sha256 == "").limit(1)


def open_plans(connection: Connection) -> list[Row]:
    """Plans whose dry run was not read yet, oldest first."""
    query = select(CHAIN_PLANS).where(CHAIN_PLANS.c.sha256 == "").order_by(CHAIN_PLANS.c.id).limit(50)
    return [row._asdict() for row in connection.execute(query)]
