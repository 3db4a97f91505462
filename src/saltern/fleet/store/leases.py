"""Leases: work that only one controller may do, such as pruning and scheduling, is done by the lease holder.

A lease expires by itself. The next holder gets a higher fence; fenced writes check that their fence is still
the newest, so that a controller that slept past the end of its lease changes nothing. The database's clock
decides, because those of controllers differ.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from sqlalchemy import (
    Connection,
    Double,
    bindparam,
    cast,
    extract,
    func,
    insert,
    select,
    update,
)

from saltern.fleet.store.bulk import fetch, fetch_value, run_for_each, structs
from saltern.fleet.store.database import serialize, try_serialize
from saltern.fleet.store.tables import LEASES

SHORT = 60.0  # seconds; a lease may have been taken for longer than is requested now


def database_time(connection: Connection) -> float:
    """Seconds since 1970, by the clock of the database."""
    query = _SQLITE_TIME if connection.dialect.name == "sqlite" else _POSTGRESQL_TIME
    return float(fetch_value(connection, query) or 0.0)


_SQLITE_TIME = select((func.julianday("now", type_=Double) - 2440587.5) * 86400.0)
_POSTGRESQL_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))


def take(connection: Connection, name: str, holder: str, seconds: float) -> int | None:
    """Take or renew a lease; return its fence, or None if another controller holds it."""
    serialize(connection, f"lease {name}")
    now = database_time(connection)
    row = _lease(connection, name)
    if row is None:
        values = {"name": name, "holder": holder, "fence": 1, "expires": now + seconds}
        connection.execute(insert(LEASES).values(values))
        return 1
    if _is_of_another(row, holder, seconds, now):
        return None
    fence = row.fence + (0 if row.holder == holder and _is_held(row, seconds, now) else 1)
    run_for_each(connection, _TAKE, [{"of": name, "by": holder, "number": fence, "until": now + seconds}])
    return fence


def renew(connection: Connection, seconds: Mapping[str, float], holder: str) -> dict[str, int | None]:
    """Renew several leases for as many seconds as each is for; as ``take``, by name. One that a transaction
    uses now is left out: leases do not wait for each other's work.
    """
    free = [name for name in sorted(seconds) if try_serialize(connection, f"lease {name}")]
    return {name: take(connection, name, holder, seconds[name]) for name in free}


def has_other(connection: Connection, name: str, holder: str, seconds: float) -> bool:
    """True if another controller holds the lease."""
    row = _lease(connection, name)
    return row is not None and _is_of_another(row, holder, seconds, database_time(connection))


class Lease(Struct, frozen=True, kw_only=True):
    """A lease as it is stored."""

    name: str
    holder: str
    fence: int
    expires: float


def _lease(connection: Connection, name: str) -> Lease | None:
    found = structs(Lease, fetch(connection, _OF_NAME, of=name))
    return found[0] if found else None


def _is_of_another(row: Lease, holder: str, seconds: float, now: float) -> bool:
    return bool(row.holder != holder and _is_held(row, seconds, now))


def _is_held(row: Lease, seconds: float, now: float) -> bool:
    """True until it expires; an end that is too far away was written by a clock that ran ahead."""
    return bool(now < row.expires <= now + 2 * max(seconds, SHORT))


_OF_NAME = select(*(LEASES.c[name] for name in Lease.__struct_fields__)).where(
    LEASES.c.name == bindparam("of")
)
_FENCE = select(LEASES.c.fence).where(LEASES.c.name == bindparam("of"))
_TAKE = (
    update(LEASES)
    .where(LEASES.c.name == bindparam("of"))
    .values(holder=bindparam("by"), fence=bindparam("number"), expires=bindparam("until"))
)


def lease_holder(connection: Connection, name: str) -> tuple[int, bool]:
    """The fence of a lease, and whether a controller holds it now."""
    row = _lease(connection, name)
    return (row.fence, row.expires > database_time(connection)) if row is not None else (0, False)


def is_current(connection: Connection, name: str, fence: int) -> bool:
    """True if no other controller has taken the lease since; holds until the transaction ends."""
    serialize(connection, f"lease {name}")
    return bool(fetch_value(connection, _FENCE, of=name) == fence)


def give_up(connection: Connection, name: str, fence: int) -> None:
    """Release a lease at once, so that another controller need not wait until it expires."""
    mine = (LEASES.c.name == name) & (LEASES.c.fence == fence)
    connection.execute(update(LEASES).where(mine).values(expires=0.0))


def give_up_all(connection: Connection, holder: str) -> None:
    """Release all leases of a controller that is gone."""
    connection.execute(update(LEASES).where(LEASES.c.holder == holder).values(expires=0.0))
