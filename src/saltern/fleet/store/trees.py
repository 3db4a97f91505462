"""Versions of the files of each environment: the current one, earlier ones, and their contents.

The last row of an environment is the current version if it is marked ``current``; an environment that was
removed from the roots has a last row that is not. A ``held`` version stays current whatever changes in the
roots.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, update

from saltern.fleet.protocol.messages import Job
from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import JOBS, MANIFESTS, TREE_SETS, TREES

USED_STEP = 3600.0  # seconds after which the use of a set is written down again
STEP = 500  # rows removed in one transaction


class TreeRow(Struct, frozen=True, kw_only=True):
    """One version, as it is listed."""

    number: int
    environment: str
    digest: str
    at: float
    by: str
    held: bool
    current: bool
    files: int = 0
    size: int = 0


class NewManifest(Struct, frozen=True, kw_only=True):
    """A manifest to be kept."""

    digest: str
    environment: str
    files: int
    size: int
    data: bytes


_COLUMNS = [TREES.c[name] for name in TreeRow.__struct_fields__ if name in TREES.c]


_WITH_SIZES: Select[Any] = select(*_COLUMNS, MANIFESTS.c.files, MANIFESTS.c.size).outerjoin(
    MANIFESTS, MANIFESTS.c.digest == TREES.c.digest
)


def current(connection: Connection) -> list[TreeRow]:
    """The version of each environment, with how many files it has, and how large they are."""
    return [_with_size(row) for row in connection.execute(_WITH_SIZES.where(_is_in_force()))]


def _with_size(row: Row[Any]) -> TreeRow:
    return TreeRow(**{**row._mapping, "files": row.files or 0, "size": row.size or 0})


def _is_in_force() -> ColumnElement[bool]:
    last = select(func.max(TREES.c.number)).group_by(TREES.c.environment)
    return TREES.c.number.in_(last) & TREES.c.current


def in_force(connection: Connection) -> dict[str, TreeRow]:
    """The version of each environment."""
    rows = connection.execute(select(*_COLUMNS).where(_is_in_force()))
    return {row.environment: TreeRow(**row._mapping) for row in rows}


def log(
    connection: Connection, environment: str = "", *, before: int | None = None, limit: int = 50
) -> list[TreeRow]:
    """Versions, newest first; of one environment, or of all."""
    query = _WITH_SIZES
    if environment:
        query = query.where(TREES.c.environment == environment)
    if before is not None:
        query = query.where(TREES.c.number < before)
    rows = connection.execute(query.order_by(TREES.c.number.desc()).limit(limit))
    return [_with_size(row) for row in rows]


def keep_manifests(connection: Connection, manifests: Iterable[NewManifest]) -> None:
    """Keep manifests, before anything names them."""
    serialize(connection, "trees")
    for one in manifests:
        known = connection.scalar(select(MANIFESTS.c.digest).where(MANIFESTS.c.digest == one.digest))
        if known is None:
            data = zlib.compress(one.data, 6)
            connection.execute(insert(MANIFESTS).values({**msgspec.structs.asdict(one), "data": data}))


def manifest(connection: Connection, digest: str) -> bytes | None:
    """The bytes of a manifest."""
    data = connection.scalar(select(MANIFESTS.c.data).where(MANIFESTS.c.digest == digest))
    return zlib.decompress(data) if data is not None else None


def find(connection: Connection, environment: str, prefix: str) -> list[str]:
    """The digests of versions of an environment that begin so, newest first."""
    query = select(TREES.c.digest).where(TREES.c.environment == environment).order_by(TREES.c.number.desc())
    return [one for one in dict.fromkeys(connection.scalars(query)) if one.startswith(prefix)]


def set_versions(
    connection: Connection, versions: Mapping[str, str], by: str, now: float
) -> dict[str, TreeRow]:
    """Make published versions current, except in held environments; return the current versions."""
    serialize(connection, "trees")
    before = in_force(connection)
    rows = [
        _row(environment, digest, by, now)
        for environment, digest in versions.items()
        if environment not in before or not (before[environment].held or before[environment].digest == digest)
    ]
    rows += [
        _row(one.environment, one.digest, by, now, current=False)
        for one in before.values()
        if one.environment not in versions and not one.held
    ]
    if not rows:
        return before
    connection.execute(insert(TREES), rows)
    return in_force(connection)


def hold(connection: Connection, environment: str, digest: str, by: str, now: float) -> None:
    """Return to an earlier version, which then stays current until ``release``."""
    serialize(connection, "trees")
    connection.execute(insert(TREES).values(_row(environment, digest, by, now, held=True)))


def release(connection: Connection, environment: str) -> bool:
    """Let an environment follow the roots again; False if it was not held."""
    serialize(connection, "trees")
    row = in_force(connection).get(environment)
    if row is None or not row.held:
        return False
    connection.execute(update(TREES).where(TREES.c.number == row.number).values(held=False))
    return True


def _row(
    environment: str, digest: str, by: str, now: float, *, held: bool = False, current: bool = True
) -> dict[str, object]:
    return {
        "environment": environment,
        "digest": digest,
        "at": now,
        "by": by,
        "held": held,
        "current": current,
    }


def use_set(connection: Connection, digest: str, members: Mapping[str, str], now: float) -> None:
    """Record that a job names these versions together."""
    used = connection.scalar(select(TREE_SETS.c.used_at).where(TREE_SETS.c.digest == digest))
    if used is None:
        serialize(connection, "trees")
        data = msgspec.json.encode(dict(members), order="sorted")
        if connection.scalar(select(TREE_SETS.c.digest).where(TREE_SETS.c.digest == digest)) is None:
            values = {"digest": digest, "members": data, "used_at": now}
            connection.execute(insert(TREE_SETS).values(values))
    elif now - used > USED_STEP:
        connection.execute(update(TREE_SETS).where(TREE_SETS.c.digest == digest).values(used_at=now))


def is_set_fresh(connection: Connection, digest: str, now: float) -> bool:
    """True if the use of a set need not be recorded now."""
    used = connection.scalar(select(TREE_SETS.c.used_at).where(TREE_SETS.c.digest == digest))
    return used is not None and now - used <= USED_STEP


def set_members(connection: Connection, digest: str) -> dict[str, str] | None:
    """The versions that a job's tree consists of."""
    data = connection.scalar(select(TREE_SETS.c.members).where(TREE_SETS.c.digest == digest))
    return msgspec.json.decode(data, type=dict[str, str]) if data is not None else None


# -- retention -------------------------------------------------------------------------------------


class Kept(Struct, frozen=True):
    """What must stay: sets by digest with their members, and manifests by environment, newest first."""

    sets: dict[str, dict[str, str]]
    manifests: dict[str, list[str]]


def prune(connection: Connection, *, versions: int, set_life: float, now: float) -> Kept:
    """Forget versions beyond the newest ``versions`` of each environment, and sets of such that no open job
    names and that were not used for ``set_life`` seconds; return what stays.
    """
    serialize(connection, "trees")
    kept: dict[str, list[str]] = {}
    for environment in connection.scalars(select(TREES.c.environment).distinct()).all():
        kept[environment] = _prune_versions(connection, environment, versions)
    kept_sets = _prune_sets(connection, now - set_life, kept)
    for members in kept_sets.values():
        for environment, digest in members.items():
            if digest not in kept.setdefault(environment, []):
                kept[environment].append(digest)
    every = {digest for digests in kept.values() for digest in digests}
    known = connection.scalars(select(MANIFESTS.c.digest)).all()
    for digest in known:
        if digest not in every:
            connection.execute(delete(MANIFESTS).where(MANIFESTS.c.digest == digest))
    present = set(known)
    return Kept(kept_sets, {env: [one for one in found if one in present] for env, found in kept.items()})


def _prune_sets(
    connection: Connection, oldest: float, versions: Mapping[str, list[str]]
) -> dict[str, dict[str, str]]:
    works = connection.scalars(select(JOBS.c.work).where(JOBS.c.ended.is_(None)))
    named = {msgspec.json.decode(work, type=Job).tree for work in works}
    kept = {}
    for row in connection.execute(select(TREE_SETS)).all():
        members = msgspec.json.decode(row.members, type=dict[str, str])
        whole = all(digest in versions.get(name, ()) for name, digest in members.items())
        if whole or row.digest in named or row.used_at >= oldest:
            kept[row.digest] = members
        else:
            connection.execute(delete(TREE_SETS).where(TREE_SETS.c.digest == row.digest))
    return kept


def _prune_versions(connection: Connection, environment: str, count: int) -> list[str]:
    """The newest versions stay, each counted once however often it was in force."""
    query = select(TREES.c.number, TREES.c.digest).where(TREES.c.environment == environment)
    digests: dict[str, None] = {}
    old = []
    for row in connection.execute(query.order_by(TREES.c.number.desc())):
        if len(digests) < count or row.digest in digests:
            digests[row.digest] = None
        else:
            old.append(row.number)
    connection.execute(delete(TREES).where(TREES.c.number.in_(old[:STEP])))
    return list(digests)
