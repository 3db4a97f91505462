"""Answers to writes, kept for a while: a request with the same client token gets the same answer again."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from saltern.fleet.store.tables import ANSWERS

KEPT = 86_400.0  # seconds for which an answer is kept
CLAIM = 120.0  # seconds after which a write without an answer counts as broken off


class Kept(Struct, frozen=True, kw_only=True):
    """An earlier write; ``status`` is 0 until it is answered."""

    request: str
    status: int
    body: bytes


def claim(connection: Connection, user: str, token: str, request: str, now: float) -> Kept | None:
    """Record that a write begins; or return the earlier one with the same token. ``token`` and ``request``
    are digests: the token itself is not stored.
    """
    connection.execute(delete(ANSWERS).where(ANSWERS.c.made_at < now - KEPT))
    row = {"user": user, "token": token, "request": request, "made_at": now, "status": 0, "body": b""}
    try:
        with connection.begin_nested():
            connection.execute(insert(ANSWERS).values(row))
    except IntegrityError:
        return _take(connection, user, token, request, now)
    return None


def _take(connection: Connection, user: str, token: str, request: str, now: float) -> Kept | None:
    this = (ANSWERS.c.user == user, ANSWERS.c.token == token)
    row = connection.execute(select(ANSWERS).where(*this).with_for_update()).one()
    if row.status == 0 and row.request == request and row.made_at <= now - CLAIM:
        connection.execute(update(ANSWERS).where(*this).values(made_at=now))
        return None
    return Kept(request=row.request, status=row.status, body=bytes(row.body))


def keep(connection: Connection, user: str, token: str, status: int, body: bytes) -> None:
    """Note the answer of a write."""
    this = (ANSWERS.c.user == user, ANSWERS.c.token == token)
    connection.execute(update(ANSWERS).where(*this).values(status=status, body=body))


def release(connection: Connection, user: str, token: str) -> None:
    """Release a write that failed and changed nothing: it may be tried again."""
    this = (ANSWERS.c.user == user, ANSWERS.c.token == token, ANSWERS.c.status == 0)
    connection.execute(delete(ANSWERS).where(*this))
