"""The mine: what systems have published for others, a row for each function of each system."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select

from saltern.fleet.store.reactor_tables import MINE

AT_ONCE = 500  # ids in one question


class MineRow(Struct, frozen=True, kw_only=True):
    """One system's value of one function. ``allowed``: the target of the systems that may read it, or all."""

    system: str
    function: str
    at: float
    value: Any
    allowed: str = ""


def put_mine(
    connection: Connection,
    system: str,
    values: Mapping[str, Any],
    allowed: Mapping[str, str],
    now: float,
    *,
    clear: bool = False,
) -> None:
    """Replace a system's values of these functions; with ``clear``, remove all its other values."""
    gone = MINE.c.system == system
    if not clear:
        gone &= MINE.c.function.in_(list(values))
    connection.execute(delete(MINE).where(gone))
    rows = [
        {
            "system": system,
            "function": function,
            "at": now,
            "data": msgspec.json.encode(value),
            "allowed": allowed.get(function, ""),
        }
        for function, value in values.items()
    ]
    if rows:
        connection.execute(insert(MINE), rows)


def remove_mine(connection: Connection, system: str, functions: Collection[str]) -> None:
    connection.execute(delete(MINE).where(MINE.c.system == system, MINE.c.function.in_(functions)))


def read_mine(connection: Connection, systems: Collection[str], functions: Collection[str]) -> list[MineRow]:
    """These systems' values of these functions; without functions, of all."""
    ids = list(systems)
    found: list[MineRow] = []
    for first in range(0, len(ids), AT_ONCE):
        query = select(MINE).where(MINE.c.system.in_(ids[first : first + AT_ONCE]))
        if functions:
            query = query.where(MINE.c.function.in_(functions))
        found += [_row(row) for row in connection.execute(query.order_by(MINE.c.system, MINE.c.function))]
    return found


def _row(row: Any) -> MineRow:
    return MineRow(
        system=row.system,
        function=row.function,
        at=row.at,
        value=msgspec.json.decode(row.data),
        allowed=row.allowed,
    )
