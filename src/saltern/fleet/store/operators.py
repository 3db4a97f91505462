"""Operators: who may log in. Lists never contain the hash of a password."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, insert, select, update

from saltern.fleet.store.access_tables import CREDENTIALS, OPERATORS


class Operator(Struct, frozen=True, kw_only=True):
    """One operator as it is listed. ``has_password`` is false for one that uses tokens or another way in."""

    name: str
    roles: tuple[str, ...]
    groups: tuple[str, ...] = ()
    disabled: bool = False
    note: str = ""
    made_at: float = 0.0
    made_by: str = ""
    changed_at: float = 0.0
    has_password: bool = False


def add_operator(connection: Connection, one: Operator, password: str = "") -> bool:
    """Add an operator with the hash of a password; False if the name is taken."""
    if operator(connection, one.name) is not None:
        return False
    values = msgspec.structs.asdict(one)
    del values["has_password"]
    lists = {key: _text(values[key]) for key in ("roles", "groups")}
    connection.execute(insert(OPERATORS).values({**values, **lists, "password": password}))
    return True


def operator(connection: Connection, name: str) -> Operator | None:
    row = connection.execute(select(OPERATORS).where(OPERATORS.c.name == name)).one_or_none()
    return None if row is None else _operator(row)


def operators(connection: Connection) -> list[Operator]:
    return [_operator(row) for row in connection.execute(select(OPERATORS).order_by(OPERATORS.c.name))]


def password_hash(connection: Connection, name: str) -> str:
    """The hash of an operator's password; empty if there is none to compare with."""
    query = select(OPERATORS.c.password).where(OPERATORS.c.name == name, OPERATORS.c.disabled.is_(False))
    return str(connection.scalar(query) or "")


def set_password(connection: Connection, name: str, hashed: str, now: float) -> bool:
    values = {"password": hashed, "changed_at": now}
    return connection.execute(update(OPERATORS).where(OPERATORS.c.name == name).values(values)).rowcount == 1


def change_operator(
    connection: Connection,
    name: str,
    now: float,
    *,
    roles: tuple[str, ...] | None = None,
    groups: tuple[str, ...] | None = None,
    disabled: bool | None = None,
) -> bool:
    """Change what is given; False if there is no such operator."""
    lists = {"roles": roles, "groups": groups}
    values: dict[str, object] = {key: _text(value) for key, value in lists.items() if value is not None}
    if disabled is not None:
        values["disabled"] = disabled
    query = update(OPERATORS).where(OPERATORS.c.name == name).values({**values, "changed_at": now})
    return connection.execute(query).rowcount == 1


def remove_operator(connection: Connection, name: str) -> bool:
    """Remove an operator with all sessions and tokens."""
    connection.execute(delete(CREDENTIALS).where(CREDENTIALS.c.operator == name))
    return connection.execute(delete(OPERATORS).where(OPERATORS.c.name == name)).rowcount == 1


def _text(names: tuple[str, ...]) -> str:
    return msgspec.json.encode(names).decode()


def _operator(row: object) -> Operator:
    values = {name: getattr(row, name) for name in Operator.__struct_fields__ if name != "has_password"}
    lists = {key: msgspec.json.decode(values[key], type=tuple[str, ...]) for key in ("roles", "groups")}
    return Operator(**{**values, **lists}, has_password=bool(getattr(row, "password", "")))
