"""Internal settings shared by all controllers of a fleet, each one JSON value by name."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from sqlalchemy import Connection, insert, select, update

from saltern.fleet.store.database import serialize
from saltern.fleet.store.tables import SETTINGS

T = TypeVar("T")


def read_setting(connection: Connection, name: str, shape: type[T]) -> T | None:
    """The value; None if there is none. In a writing transaction, no other can change it meanwhile."""
    if connection.get_execution_options().get("saltern_writes"):
        serialize(connection, f"setting {name}")
    data = connection.scalar(select(SETTINGS.c.value).where(SETTINGS.c.name == name))
    return msgspec.json.decode(bytes(data), type=shape) if data is not None else None


def write_setting(connection: Connection, name: str, value: object) -> None:
    row = {"value": msgspec.json.encode(value)}
    if not connection.execute(update(SETTINGS).where(SETTINGS.c.name == name).values(row)).rowcount:
        connection.execute(insert(SETTINGS).values(name=name, **row))
