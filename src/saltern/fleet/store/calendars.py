"""Maintenance windows and schedules, by name. When a schedule fires next is kept with it."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from saltern.fleet.store.calendar_tables import CALENDARS, SCHEDULES


class StoredCalendar(Struct, frozen=True, kw_only=True):
    """A calendar of windows: ``allow`` or ``deny``, for the systems of a target; ``text`` is iCalendar."""

    name: str
    kind: str
    text: str
    author: str
    changed: float
    zone: str = "UTC"
    target: str = "*"
    note: str = ""


class StoredSchedule(Struct, frozen=True, kw_only=True):
    """A chain at its times. ``version`` None: the newest then. ``inputs`` and ``strategy`` are JSON."""

    name: str
    chain: str
    target: str
    cron: str
    author: str
    changed: float
    version: int | None = None
    inputs: bytes = b"{}"
    strategy: bytes = b"{}"
    zone: str = "UTC"
    overlap: str = "skip"
    catch_up: str = "one"
    enabled: bool = True
    next_at: float | None = None
    last_at: float | None = None
    last_run: str = ""
    last_why: str = ""


def set_calendar(connection: Connection, new: StoredCalendar) -> None:
    """Keep a calendar under its name, in place of what was kept there."""
    connection.execute(delete(CALENDARS).where(CALENDARS.c.name == new.name))
    connection.execute(insert(CALENDARS).values(msgspec.structs.asdict(new)))


def remove_calendar(connection: Connection, name: str) -> bool:
    return connection.execute(delete(CALENDARS).where(CALENDARS.c.name == name)).rowcount == 1


def list_calendars(connection: Connection) -> list[StoredCalendar]:
    """All, by name."""
    rows = connection.execute(select(CALENDARS).order_by(CALENDARS.c.name))
    return [StoredCalendar(**row._mapping) for row in rows]


def set_schedule(connection: Connection, new: StoredSchedule) -> None:
    """Keep a schedule under its name, in place of what was kept there."""
    connection.execute(delete(SCHEDULES).where(SCHEDULES.c.name == new.name))
    connection.execute(insert(SCHEDULES).values(msgspec.structs.asdict(new)))


def remove_schedule(connection: Connection, name: str) -> bool:
    return connection.execute(delete(SCHEDULES).where(SCHEDULES.c.name == name)).rowcount == 1


def list_schedules(connection: Connection) -> list[StoredSchedule]:
    """All, by name."""
    return [_schedule(row) for row in connection.execute(select(SCHEDULES).order_by(SCHEDULES.c.name))]


def schedule_named(connection: Connection, name: str) -> StoredSchedule | None:
    row = connection.execute(select(SCHEDULES).where(SCHEDULES.c.name == name)).one_or_none()
    return None if row is None else _schedule(row)


def due_schedules(connection: Connection, now: float) -> list[StoredSchedule]:
    """Those that are to fire by now."""
    return [_schedule(row) for row in connection.execute(_DUE, {"now": now})]


_DUE = (
    select(SCHEDULES)
    .where(SCHEDULES.c.enabled, SCHEDULES.c.next_at <= bindparam("now"))
    .order_by(SCHEDULES.c.next_at)
)


def mark_fired(connection: Connection, before: StoredSchedule, changes: dict[str, object]) -> bool:
    """Keep when it fires next and what it did. False: another controller was quicker."""
    change = update(SCHEDULES).where(
        SCHEDULES.c.name == before.name,
        SCHEDULES.c.next_at == before.next_at,
        SCHEDULES.c.changed == before.changed,
    )
    return connection.execute(change.values(**changes)).rowcount == 1


def _schedule(row: object) -> StoredSchedule:
    found = dict(row._mapping)  # type: ignore[attr-defined]
    return StoredSchedule(**{**found, "inputs": bytes(found["inputs"]), "strategy": bytes(found["strategy"])})
