"""How systems are: all of them as few rows, and some of them as a list shows them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select

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


class FleetPresence(NamedTuple):
    """How the systems of a fleet are: rows only of those that are not as most are.

    Most are connected, and have one version of the agent; of a large fleet only the others are worth a row.
    """

    accepted: int
    pending: int
    version: str  # that of most
    others: dict[str, Light]  # accepted, and away or of another version or kind

    def of(self, id_: str) -> Light:
        usual = Light(id_, "accepted", True, None, None, self.version, "agent")
        return self.others.get(id_, usual)


def read_presence(connection: Connection) -> FleetPresence:
    """How all systems are."""
    c = SYSTEMS.c
    query = select(c.state, c.version, c.online, c.kind, func.count()).group_by(
        c.state, c.version, c.online, c.kind
    )
    rows = [tuple(row) for row in connection.execute(query)]
    usual = [
        (number, str(version))
        for state, version, online, kind, number in rows
        if state == "accepted" and online and kind == "agent"
    ]
    version = max(usual, default=(0, ""))[1]
    other = or_(c.online.is_(False), c.version != version, c.kind != "agent")
    found = connection.execute(select(*_COLUMNS).where(c.state == "accepted", other))
    return FleetPresence(
        accepted=sum(number for state, *_, number in rows if state == "accepted"),
        pending=sum(number for state, *_, number in rows if state == "pending"),
        version=version,
        others={row[0]: Light(*row) for row in found},
    )


def light_systems(connection: Connection, ids: Collection[str]) -> dict[str, Light]:
    """These systems by id."""
    query = select(*_COLUMNS).where(SYSTEMS.c.id.in_(ids))
    return {row[0]: Light(*row) for row in connection.execute(query)}
