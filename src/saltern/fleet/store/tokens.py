"""Join tokens: each lets a number of systems in, until a time, and is spent in the same transaction."""

from __future__ import annotations

import hashlib
import hmac

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.tables import TOKENS


class Token(Struct, frozen=True, kw_only=True):
    """What is kept of a token: never its secret. ``system``: only this id may use it."""

    id: str
    made_at: float
    made_by: str
    expires: float
    uses: int
    system: str
    site: str


def add_token(connection: Connection, token: Token, secret: bytes) -> None:
    values = {name: getattr(token, name) for name in Token.__struct_fields__}
    connection.execute(insert(TOKENS).values(digest=_digest(secret), **values))


def spend(connection: Connection, id_: str, secret: bytes, system: str, now: float) -> Token | str:
    """Use a token once for this system; a text says why it cannot be used.

    Who does not know the secret learns nothing: not even whether there is such a token.
    """
    row = connection.execute(select(TOKENS).where(TOKENS.c.id == id_).with_for_update()).one_or_none()
    kept = str(row.digest) if row is not None else "0" * 64
    if not hmac.compare_digest(kept, _digest(secret)) or row is None:
        return "the token is not valid"
    if row.expires <= now:
        return "the token has expired: ask for a new one"
    if row.uses < 1:
        return "the token was used already: ask for a new one"
    if row.system and row.system != system:
        return f"the token is for the system {row.system!r} only"
    connection.execute(update(TOKENS).where(TOKENS.c.id == id_).values(uses=TOKENS.c.uses - 1))
    return Token(**{name: getattr(row, name) for name in Token.__struct_fields__})


def tokens(connection: Connection) -> list[Token]:
    rows = connection.execute(select(TOKENS).order_by(TOKENS.c.made_at))
    return [Token(**{name: getattr(row, name) for name in Token.__struct_fields__}) for row in rows]


def remove_token(connection: Connection, id_: str) -> bool:
    return connection.execute(delete(TOKENS).where(TOKENS.c.id == id_)).rowcount == 1


def _digest(secret: bytes) -> str:
    return hashlib.sha256(b"saltern join token\0" + secret).hexdigest()
