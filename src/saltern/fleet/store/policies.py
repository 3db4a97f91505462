"""Versions of the policy. The newest applies; none is ever changed."""

from __future__ import annotations

import hashlib

from msgspec import Struct
from sqlalchemy import Connection, insert, select

from saltern.fleet.store.access_tables import POLICIES
from saltern.fleet.store.bulk import fetch_value
from saltern.fleet.store.database import serialize


class PolicyVersion(Struct, frozen=True, kw_only=True):
    """``source`` is the file that it was read from, or ``api``."""

    version: int = 0
    text: str = ""
    digest: str = ""
    source: str = ""
    made_at: float = 0.0
    made_by: str = ""


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def newest_policy(connection: Connection, *, source: str = "") -> PolicyVersion:
    """The newest version, of all or of one source; version 0 if there is none."""
    query = select(POLICIES).order_by(POLICIES.c.version.desc()).limit(1)
    query = query.where(POLICIES.c.source == source) if source else query
    row = connection.execute(query).one_or_none()
    return PolicyVersion(**row._mapping) if row is not None else PolicyVersion()


def newest_number(connection: Connection) -> int:
    return int(fetch_value(connection, _NEWEST) or 0)


_NEWEST = select(POLICIES.c.version).order_by(POLICIES.c.version.desc()).limit(1)


def policy_versions(connection: Connection, limit: int = 100) -> list[PolicyVersion]:
    query = select(POLICIES).order_by(POLICIES.c.version.desc()).limit(limit)
    return [PolicyVersion(**row._mapping) for row in connection.execute(query)]


def lock_policies(connection: Connection) -> None:
    """Let one transaction at a time read which version is the newest and add one."""
    serialize(connection, "policy")


def add_policy(connection: Connection, text: str, *, source: str, who: str, now: float) -> PolicyVersion:
    """Add a version of the policy."""
    lock_policies(connection)
    number = newest_number(connection) + 1
    values = {
        "version": number,
        "text": text,
        "digest": digest_of(text),
        "source": source,
        "made_at": now,
        "made_by": who,
    }
    connection.execute(insert(POLICIES).values(values))
    return PolicyVersion(**values)  # type: ignore[arg-type]
