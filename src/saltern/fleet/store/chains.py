"""Chains by name, and their versions: added, never changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, insert, select, update

from saltern.fleet.store.chain_tables import CHAIN_VERSIONS, CHAINS
from saltern.fleet.store.database import serialize


class StoredChain(Struct, frozen=True, kw_only=True):
    """A chain without its texts."""

    id: str
    name: str
    created: float
    created_by: str
    owner: str = ""
    description: str = ""
    archived_at: float | None = None
    archived_by: str = ""


class StoredVersion(Struct, frozen=True, kw_only=True):
    """One text of a chain; ``inputs`` is the schema of what a run may be given."""

    chain: str
    number: int
    text: str
    sha256: str
    author: str
    created: float
    inputs: bytes = b"{}"
    note: str = ""


def lock_chain(connection: Connection, name: str) -> None:
    """Let one transaction at a time look for a chain of this name and change it."""
    serialize(connection, f"chain {name}")


def add_chain(connection: Connection, new: StoredChain) -> None:
    connection.execute(insert(CHAINS).values(msgspec.structs.asdict(new)))


def chain_named(connection: Connection, name: str) -> StoredChain | None:
    """The chain that has this name or this id."""
    query = select(CHAINS).where((CHAINS.c.name == name) | (CHAINS.c.id == name))
    rows = connection.execute(query.order_by((CHAINS.c.name == name).desc())).all()
    return StoredChain(**rows[0]._mapping) if rows else None


def names_of(connection: Connection, chains: Sequence[str]) -> dict[str, str]:
    """The name of each chain by its id; for a deleted chain, its id."""
    query = select(CHAINS.c.id, CHAINS.c.name).where(CHAINS.c.id.in_(chains))
    known = {str(id_): str(name) for id_, name in connection.execute(query)}
    return {chain: known.get(chain, chain) for chain in chains}


def list_chains(
    connection: Connection, *, archived: bool = False, after: str = "", limit: int = 200
) -> list[StoredChain]:
    """Chains by name, after a name; archived ones only if they are asked for."""
    query = select(CHAINS).where(CHAINS.c.name > after).order_by(CHAINS.c.name).limit(limit)
    if not archived:
        query = query.where(CHAINS.c.archived_at.is_(None))
    return [StoredChain(**row._mapping) for row in connection.execute(query)]


def set_archived(connection: Connection, chain: str, who: str, at: float | None) -> bool:
    """Archive a chain, or restore it with ``at=None``; True if that changed anything."""
    wanted = CHAINS.c.archived_at.is_not(None) if at is None else CHAINS.c.archived_at.is_(None)
    change = update(CHAINS).where(CHAINS.c.id == chain, wanted)
    return connection.execute(change.values(archived_at=at, archived_by=who if at else "")).rowcount == 1


def add_version(connection: Connection, new: StoredVersion) -> None:
    connection.execute(insert(CHAIN_VERSIONS).values(msgspec.structs.asdict(new)))


def version_of(connection: Connection, chain: str, number: int | None = None) -> StoredVersion | None:
    """A version of a chain by its id; the newest without a number."""
    query = select(CHAIN_VERSIONS).where(CHAIN_VERSIONS.c.chain == chain)
    if number is not None:
        query = query.where(CHAIN_VERSIONS.c.number == number)
    row = connection.execute(query.order_by(CHAIN_VERSIONS.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else StoredVersion(**{**row._mapping, "inputs": bytes(row.inputs)})


def versions_of(connection: Connection, chain: str) -> list[StoredVersion]:
    """All versions of a chain, oldest first."""
    query = select(CHAIN_VERSIONS).where(CHAIN_VERSIONS.c.chain == chain).order_by(CHAIN_VERSIONS.c.number)
    rows = connection.execute(query)
    return [StoredVersion(**{**row._mapping, "inputs": bytes(row.inputs)}) for row in rows]
