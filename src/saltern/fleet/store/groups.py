"""Groups of the fleet: names for targets, written ``@NAME``."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.tables import GROUPS


def groups(connection: Connection) -> dict[str, str]:
    """Each group, and the target that it stands for."""
    return {str(name): str(expression) for name, expression in fetch(connection, _ALL)}


_ALL = select(GROUPS.c.name, GROUPS.c.expression).order_by(GROUPS.c.name)


def set_group(connection: Connection, name: str, expression: str) -> None:
    row = {"expression": expression}
    if not connection.execute(update(GROUPS).where(GROUPS.c.name == name).values(row)).rowcount:
        connection.execute(insert(GROUPS).values(name=name, **row))


def remove_group(connection: Connection, name: str) -> bool:
    return connection.execute(delete(GROUPS).where(GROUPS.c.name == name)).rowcount == 1
