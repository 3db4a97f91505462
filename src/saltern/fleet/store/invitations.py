"""Invitations of further controllers: sealed to a token, used once, removed with their use."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select

from saltern.fleet.store.tables import INVITATIONS


class Invitation(Struct, frozen=True, kw_only=True):
    """Who is invited by whom, until when; only the holder of the token can open ``sealed``."""

    id: str
    made_at: float
    made_by: str
    expires: float
    sealed: bytes


def add_invitation(connection: Connection, one: Invitation) -> None:
    connection.execute(
        insert(INVITATIONS).values({name: getattr(one, name) for name in Invitation.__struct_fields__})
    )


def invitation(connection: Connection, id_: str, now: float) -> Invitation | None:
    """The invitation, if it is unused and has not expired. Expired ones are removed."""
    connection.execute(delete(INVITATIONS).where(INVITATIONS.c.expires <= now))
    query = select(INVITATIONS).where(INVITATIONS.c.id == id_).with_for_update()
    row = connection.execute(query).one_or_none()
    return Invitation(**{**row._mapping, "sealed": bytes(row.sealed)}) if row is not None else None


def remove_invitation(connection: Connection, id_: str) -> bool:
    return connection.execute(delete(INVITATIONS).where(INVITATIONS.c.id == id_)).rowcount == 1
