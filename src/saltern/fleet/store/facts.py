"""Facts of many systems at once: which have changed, and the bytes of those."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from saltern.fleet.store.tables import FACTS, SYSTEMS

MOST_AT_ONCE = 500


def fact_digests(connection: Connection) -> dict[str, str]:
    """Every accepted system by id, with the digest of its facts; empty if it has sent none."""
    query = (
        select(SYSTEMS.c.id, FACTS.c.digest)
        .join(FACTS, FACTS.c.system == SYSTEMS.c.id, isouter=True)
        .where(SYSTEMS.c.state == "accepted")
        .order_by(SYSTEMS.c.id)
    )
    return {str(id_): str(digest or "") for id_, digest in connection.execute(query)}


def census(connection: Connection) -> tuple[str, str]:
    """Who is accepted, and who has which facts, as two texts: while both are the same, so is all of it.

    The database makes them, because rows of a large fleet cost more to fetch than to compare.
    """
    word = FACTS.c.system + " " + func.substr(FACTS.c.digest, 1, 24)
    accepted = select(func.aggregate_strings(SYSTEMS.c.id, "\n")).where(SYSTEMS.c.state == "accepted")
    known = select(func.aggregate_strings(word, "\n"))
    return str(connection.scalar(accepted) or ""), str(connection.scalar(known) or "")


def facts_of(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """The digest and the grains, as JSON, of these systems."""
    found: dict[str, tuple[str, bytes]] = {}
    for first in range(0, len(ids), MOST_AT_ONCE):
        some = ids[first : first + MOST_AT_ONCE]
        query = select(FACTS.c.system, FACTS.c.digest, FACTS.c.grains).where(FACTS.c.system.in_(some))
        found.update((row.system, (row.digest, bytes(row.grains))) for row in connection.execute(query))
    return found
