"""Join tokens: each admits a number of systems until it expires; a use is consumed in the same transaction.

Of a token's secret only a key that checks proofs is stored: no token can be made from that.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.tables import TOKENS


class Token(Struct, frozen=True, kw_only=True):
    """The public data of a token."""

    id: str
    made_at: float
    made_by: str
    expires: float
    uses: int
    site: str = ""


_COLUMNS = [TOKENS.c[name] for name in Token.__struct_fields__]


def add_token(connection: Connection, token: Token, proof_key: bytes) -> None:
    values = {name: getattr(token, name) for name in Token.__struct_fields__}
    connection.execute(insert(TOKENS).values(proof_key=proof_key.hex(), **values))


def token(connection: Connection, id_: str) -> tuple[Token, bytes] | None:
    """A token, and the key that checks proofs of its secret."""
    query = select(*_COLUMNS, TOKENS.c.proof_key).where(TOKENS.c.id == id_)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    *fields, key = row
    return Token(**dict(zip(Token.__struct_fields__, fields, strict=True))), bytes.fromhex(key)


def use_token(connection: Connection, id_: str, now: float) -> bool:
    """Consume one use of a token; False if it has none left, has expired or was removed."""
    usable = (TOKENS.c.id == id_) & (TOKENS.c.uses >= 1) & (TOKENS.c.expires > now)
    return connection.execute(update(TOKENS).where(usable).values(uses=TOKENS.c.uses - 1)).rowcount == 1


def tokens(connection: Connection) -> list[Token]:
    rows = connection.execute(select(*_COLUMNS).order_by(TOKENS.c.made_at, TOKENS.c.id))
    return [Token(**row._mapping) for row in rows]


def remove_token(connection: Connection, id_: str) -> bool:
    return connection.execute(delete(TOKENS).where(TOKENS.c.id == id_)).rowcount == 1


def remove_expired(connection: Connection, before: float) -> int:
    """Forget tokens that expired before this time."""
    return connection.execute(delete(TOKENS).where(TOKENS.c.expires < before)).rowcount
