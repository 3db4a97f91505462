"""Internal settings shared by all controllers of a fleet, each one JSON value by name."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update

from saltern.fleet.store.bulk import fetch_value
from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import SETTINGS

T = TypeVar("T")


def read_setting(connection: Connection, name: str, shape: type[T]) -> T | None:
    """The value; None if there is none. In a writing transaction, no other can change it meanwhile."""
    if connection.get_execution_options().get("saltern_writes"):
        serialize(connection, f"setting {name}")
    data = fetch_value(connection, _VALUE, of=name)
    return msgspec.json.decode(bytes(data), type=shape) if data is not None else None


_VALUE = select(SETTINGS.c.value).where(SETTINGS.c.name == bindparam("of"))


def write_setting(connection: Connection, name: str, value: object) -> None:
    row = {"value": msgspec.json.encode(value)}
    if not connection.execute(update(SETTINGS).where(SETTINGS.c.name == name).values(row)).rowcount:
        connection.execute(insert(SETTINGS).values(name=name, **row))
