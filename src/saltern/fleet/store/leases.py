"""Leases: work that only one controller may do, such as pruning and scheduling, is done by the lease holder.

A lease expires by itself. The next holder gets a higher fence; fenced writes check that their fence is still
the newest, so that a controller that slept past the end of its lease changes nothing. The database's clock
decides, because those of controllers differ.
"""

from __future__ import annotations

from sqlalchemy import Connection, Double, cast, extract, func, insert, select, text, update

from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import LEASES

SHORT = 60.0  # seconds; a lease may have been taken for longer than is requested now


def database_time(connection: Connection) -> float:
    """Seconds since 1970, by the clock of the database."""
    if connection.dialect.name == "sqlite":
        return float(connection.scalar(text("SELECT (julianday('now') - 2440587.5) * 86400.0")) or 0.0)
    return float(connection.scalar(select(cast(extract("epoch", func.clock_timestamp()), Double))) or 0.0)


def take(connection: Connection, name: str, holder: str, seconds: float) -> int | None:
    """Take or renew a lease; return its fence, or None if another controller holds it."""
    serialize(connection, f"lease {name}")
    now = database_time(connection)
    row = connection.execute(select(LEASES).where(LEASES.c.name == name)).one_or_none()
    if row is None:
        values = {"name": name, "holder": holder, "fence": 1, "expires": now + seconds}
        connection.execute(insert(LEASES).values(values))
        return 1
    is_held = now < row.expires <= now + 2 * max(seconds, SHORT)  # later: by a clock that ran ahead
    if row.holder != holder and is_held:
        return None
    fence = int(row.fence) + (0 if row.holder == holder and is_held else 1)
    values = {"holder": holder, "fence": fence, "expires": now + seconds}
    connection.execute(update(LEASES).where(LEASES.c.name == name).values(values))
    return fence


def lease_holder(connection: Connection, name: str) -> tuple[int, bool]:
    """The fence of a lease, and whether a controller holds it now."""
    row = connection.execute(select(LEASES).where(LEASES.c.name == name)).one_or_none()
    return (int(row.fence), row.expires > database_time(connection)) if row is not None else (0, False)


def is_current(connection: Connection, name: str, fence: int) -> bool:
    """True if no other controller has taken the lease since; holds until the transaction ends."""
    serialize(connection, f"lease {name}")
    return connection.scalar(select(LEASES.c.fence).where(LEASES.c.name == name)) == fence


def give_up(connection: Connection, name: str, fence: int) -> None:
    """Release a lease at once, so that another controller need not wait until it expires."""
    mine = (LEASES.c.name == name) & (LEASES.c.fence == fence)
    connection.execute(update(LEASES).where(mine).values(expires=0.0))


def give_up_all(connection: Connection, holder: str) -> None:
    """Release all leases of a controller that is gone."""
    connection.execute(update(LEASES).where(LEASES.c.holder == holder).values(expires=0.0))
