"""Failed logins, which make the next attempt wait; and logins begun at an OpenID Connect provider."""

from __future__ import annotations

import hashlib

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.access_tables import LOGIN_ATTEMPTS, LOGIN_FAILURES
from saltern.fleet.store.database import serialize

FORGOTTEN = 86400.0  # seconds after the last failure


class Failures(Struct, frozen=True):
    """How often logins failed for this key, and until when attempts are refused."""

    count: int = 0
    until: float = 0.0


def failures(connection: Connection, key: str, now: float) -> Failures:
    row = connection.execute(select(LOGIN_FAILURES).where(LOGIN_FAILURES.c.key == key)).one_or_none()
    if row is None or row.last <= now - FORGOTTEN:
        return Failures()
    return Failures(int(row.failures), float(row.until))


def note_failure(connection: Connection, key: str, count: int, now: float, until: float) -> None:
    values = {"failures": count, "last": now, "until": until}
    query = update(LOGIN_FAILURES).where(LOGIN_FAILURES.c.key == key).values(values)
    if not connection.execute(query).rowcount:
        connection.execute(insert(LOGIN_FAILURES).values(key=key, **values))


def serialize_failures(connection: Connection) -> None:
    """Let one transaction at a time count, so that attempts made at once are all counted."""
    serialize(connection, "logins")


def forget_failures(connection: Connection, key: str) -> None:
    connection.execute(delete(LOGIN_FAILURES).where(LOGIN_FAILURES.c.key == key))


class Attempt(Struct, frozen=True, kw_only=True):
    nonce: str
    challenge: str
    redirect: str
    expires: float


def begin_attempt(connection: Connection, state: str, one: Attempt) -> None:
    values = {name: getattr(one, name) for name in Attempt.__struct_fields__}
    connection.execute(insert(LOGIN_ATTEMPTS).values(state=_digest(state), **values))


def end_attempt(connection: Connection, state: str, now: float) -> Attempt | None:
    """The attempt with this state, which is used up; None if there is none or it has expired."""
    mine = LOGIN_ATTEMPTS.c.state == _digest(state)
    row = connection.execute(select(LOGIN_ATTEMPTS).where(mine).with_for_update()).one_or_none()
    if row is None or not connection.execute(delete(LOGIN_ATTEMPTS).where(mine)).rowcount:
        return None
    found = Attempt(**{name: getattr(row, name) for name in Attempt.__struct_fields__})
    return found if found.expires > now else None


def prune_logins(connection: Connection, now: float) -> int:
    """Remove old failures, and attempts that were never finished."""
    old = delete(LOGIN_FAILURES).where(LOGIN_FAILURES.c.last <= now - FORGOTTEN)
    stale = delete(LOGIN_ATTEMPTS).where(LOGIN_ATTEMPTS.c.expires <= now)
    return connection.execute(old).rowcount + connection.execute(stale).rowcount


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
