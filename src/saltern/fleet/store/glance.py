"""All systems with what a list needs of them, read at once."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select

from saltern.fleet.store.tables import SYSTEMS


class Light(NamedTuple):
    """Of a system only how it is."""

    id: str
    state: str
    online: bool
    seen_at: float | None
    back_by: float | None
    version: str
    kind: str


_COLUMNS = [SYSTEMS.c[name] for name in Light._fields]


def light_systems(connection: Connection) -> dict[str, Light]:
    """Every system by id, whatever the state of its key."""
    return {row[0]: Light(*row) for row in connection.execute(select(*_COLUMNS))}
