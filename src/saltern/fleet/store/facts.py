"""Facts of many systems at once: which have changed, and the bytes of those."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.tables import FACTS, SYSTEMS

MOST_AT_ONCE = 500
Census = tuple[str, str, str, str]


def fact_digests(connection: Connection) -> dict[str, str]:
    """Every accepted system by id, with the digest of its facts; empty if it has sent none."""
    query = (
        select(SYSTEMS.c.id, FACTS.c.digest)
        .join(FACTS, FACTS.c.system == SYSTEMS.c.id, isouter=True)
        .where(SYSTEMS.c.state == "accepted")
        .order_by(SYSTEMS.c.id)
    )
    return {str(id_): str(digest or "") for id_, digest in connection.execute(query)}


def census(connection: Connection) -> Census:
    """Texts that list all systems, the unaccepted ones, and the digests of facts: while these texts are the
    same, so is all of it.

    The database makes them, because rows of a large fleet cost more to fetch than to compare. Each is read
    from an index alone, or has few rows; the two texts of the facts have the order of the same rows.
    """
    queries = _census_queries(connection.dialect.name == "sqlite")
    texts = [str(text or "") for query in queries for text in fetch(connection, query)[0]]
    all_, not_accepted, systems, digests = texts
    return all_, not_accepted, systems, digests


@cache
def _census_queries(is_sqlite: bool) -> list[Select[Any]]:
    everyone = select(SYSTEMS.c.id)
    state = SYSTEMS.c.state
    others = everyone.where(or_(state < "accepted", state > "accepted"))  # an index finds them, not a scan
    facts = select(FACTS.c.system, func.substr(FACTS.c.digest, 1, 24).label("digest"))
    return [_join_columns(query, is_sqlite) for query in (everyone, others, facts)]


def _join_columns(query: Select[Any], is_sqlite: bool) -> Any:
    """Each column of a query as one text. SQLite reads an index in its order; PostgreSQL has another order
    after each write, and is asked to sort.
    """
    columns = query.selected_columns
    if not is_sqlite:
        columns = query.order_by(*columns[:1]).subquery().c
        query = select(*columns)
    return query.with_only_columns(*(func.aggregate_strings(one, "\n") for one in columns))


def facts_of(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """The digest and the grains, as JSON, of these systems."""
    found: dict[str, tuple[str, bytes]] = {}
    for first in range(0, len(ids), MOST_AT_ONCE):
        some = ids[first : first + MOST_AT_ONCE]
        query = select(FACTS.c.system, FACTS.c.digest, FACTS.c.grains).where(FACTS.c.system.in_(some))
        found.update((row.system, (row.digest, bytes(row.grains))) for row in connection.execute(query))
    return found
