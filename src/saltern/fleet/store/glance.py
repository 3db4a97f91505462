"""The states of systems: of all as a few rows, and of some as a list shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from saltern.fleet.store.tables import SYSTEMS


class Light(NamedTuple):
    """The status columns of a system."""

    id: str
    state: str
    online: bool
    seen_at: float | None
    back_by: float | None
    version: str
    kind: str


_COLUMNS = [SYSTEMS.c[name] for name in Light._fields]


class FleetPresence(NamedTuple):
    """The states of the systems of a fleet: counts, and rows only for those that are not connected."""

    accepted: int
    pending: int
    versions: dict[str, int]  # of the agents of those that are accepted
    away: dict[str, Light]

    @property
    def version(self) -> str:
        """That of most."""
        return max(self.versions, key=lambda one: (self.versions[one], one), default="")


def read_presence(connection: Connection) -> FleetPresence:
    """Read the states of all systems."""
    c = SYSTEMS.c
    keys = (c.state, c.online, c.version)  # those of an index, in its order: nothing has to be sorted
    rows = connection.execute(select(*keys, func.count()).group_by(*keys)).all()
    versions: Counter[str] = Counter()
    for state, _, version, number in rows:
        versions[str(version)] += number if state == "accepted" else 0
    return FleetPresence(
        accepted=versions.total(),
        pending=sum(number for state, *_, number in rows if state == "pending"),
        versions={version: number for version, number in versions.items() if number},
        away=read_away(connection),
    )


def read_away(connection: Connection) -> dict[str, Light]:
    """The accepted systems that are not connected."""
    c = SYSTEMS.c
    found = connection.execute(select(*_COLUMNS).where(c.state == "accepted", c.online.is_(False)))
    return {row[0]: Light(*row) for row in found.all()}


def other_versions(connection: Connection, usual: str) -> dict[str, str]:
    """The accepted systems whose agent's version differs from the most common one."""
    c = SYSTEMS.c
    rows = connection.execute(select(c.id, c.version).where(c.state == "accepted", c.version != usual))
    return {str(id_): str(version) for id_, version in rows.all()}


def light_systems(connection: Connection, ids: Collection[str]) -> dict[str, Light]:
    """These systems by id."""
    query = select(*_COLUMNS).where(SYSTEMS.c.id.in_(ids))
    return {row[0]: Light(*row) for row in connection.execute(query).all()}
