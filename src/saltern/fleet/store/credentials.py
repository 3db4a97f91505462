"""Sessions and API tokens: ``find`` returns the owner of a secret, and records that it was used.

The secret is ``ID.SECRET`` and is shown once. It has 256 random bits, so a digest without a salt is enough.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.access_tables import CREDENTIALS

NOTED = 60.0  # seconds: the last use is recorded at most this often
SESSION, TOKEN = "session", "token"


class Credential(Struct, frozen=True, kw_only=True):
    """The stored data of a session or a token, never its secret. ``source``: ``local``, ``oidc`` or
    ``pam``.
    """

    id: str
    kind: str
    operator: str
    source: str
    label: str = ""
    groups: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    made_at: float
    expires: float
    last_used: float | None = None


def add_credential(connection: Connection, one: Credential, secret: str) -> None:
    values = msgspec.structs.asdict(one)
    values["groups"] = msgspec.json.encode(one.groups).decode()
    values["scopes"] = None if one.scopes is None else msgspec.json.encode(one.scopes).decode()
    connection.execute(insert(CREDENTIALS).values(digest=_digest(secret), **values))


def find(connection: Connection, id_: str, secret: str, now: float) -> Credential | None:
    """The credential with this id and secret, if it has not expired."""
    row = connection.execute(select(CREDENTIALS).where(CREDENTIALS.c.id == id_)).one_or_none()
    kept = str(row.digest) if row is not None else "0" * 64
    if not hmac.compare_digest(kept, _digest(secret)) or row is None:
        return None
    return _credential(row) if row.expires > now else None


def note_use(connection: Connection, id_: str, now: float) -> None:
    connection.execute(update(CREDENTIALS).where(CREDENTIALS.c.id == id_).values(last_used=now))


def credentials(connection: Connection, *, operator: str = "", kind: str = "") -> list[Credential]:
    query = select(CREDENTIALS).order_by(CREDENTIALS.c.made_at, CREDENTIALS.c.id)
    query = query.where(CREDENTIALS.c.operator == operator) if operator else query
    query = query.where(CREDENTIALS.c.kind == kind) if kind else query
    return [_credential(row) for row in connection.execute(query)]


def remove_credential(connection: Connection, id_: str, *, operator: str = "") -> bool:
    """Remove one; with ``operator`` only if it is theirs."""
    query = delete(CREDENTIALS).where(CREDENTIALS.c.id == id_)
    query = query.where(CREDENTIALS.c.operator == operator) if operator else query
    return connection.execute(query).rowcount == 1


def remove_sessions(connection: Connection, operator: str, *, but: str = "") -> int:
    """End all sessions of an operator, but for one."""
    theirs = (CREDENTIALS.c.operator == operator) & (CREDENTIALS.c.kind == SESSION)
    return connection.execute(delete(CREDENTIALS).where(theirs, CREDENTIALS.c.id != but)).rowcount


def remove_expired(connection: Connection, now: float) -> int:
    return connection.execute(delete(CREDENTIALS).where(CREDENTIALS.c.expires <= now)).rowcount


def _digest(secret: str) -> str:
    return hashlib.sha256(b"saltern credential\0" + secret.encode("utf-8", "replace")).hexdigest()


def _credential(row: object) -> Credential:
    values = {name: getattr(row, name) for name in Credential.__struct_fields__}
    values["groups"] = msgspec.json.decode(values["groups"], type=tuple[str, ...])
    if values["scopes"] is not None:
        values["scopes"] = msgspec.json.decode(values["scopes"], type=tuple[str, ...])
    return Credential(**values)
