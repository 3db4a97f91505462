"""Subscriptions and notifications: stored with the change they report, kept until they arrive."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Integer, bindparam, delete, func, insert, select, update

from saltern.fleet.store.calendar_tables import NOTIFICATIONS, SUBSCRIPTIONS

SENT, WAITING, DEAD = "sent", "waiting", "dead"


class Subscription(Struct, frozen=True, kw_only=True):
    """``events``: patterns of names, and ``chains`` of which it is; no chain: of all. ``secret`` signs."""

    name: str
    kind: str
    address: str
    events: tuple[str, ...] = ()
    chains: tuple[str, ...] = ()
    secret: str = ""
    enabled: bool = True
    author: str = ""
    changed: float = 0


class Notification(Struct, frozen=True, kw_only=True):
    """A notification. ``next_at``: when to send it; None: it was sent, or is dead."""

    number: int
    subscription: str
    event: str
    body: bytes
    created: float
    next_at: float | None
    attempts: int
    done: float | None
    problem: str

    @property
    def status(self) -> str:
        return SENT if self.done is not None else WAITING if self.next_at is not None else DEAD


def put_subscription(connection: Connection, new: Subscription) -> None:
    """Store a subscription under its name; waiting notifications are sent to its new address."""
    row = {
        **{name: getattr(new, name) for name in ("name", "kind", "address", "enabled", "author", "changed")},
        "events": msgspec.json.encode({"events": new.events, "chains": new.chains}).decode(),
        "secret": new.secret.encode(),
    }
    mine = SUBSCRIPTIONS.c.name == new.name
    if connection.execute(update(SUBSCRIPTIONS).where(mine).values(row)).rowcount == 0:
        connection.execute(insert(SUBSCRIPTIONS).values(row))


def remove_subscription(connection: Connection, name: str) -> bool:
    """Remove a subscription with what waits for it."""
    connection.execute(delete(NOTIFICATIONS).where(NOTIFICATIONS.c.subscription == name))
    return connection.execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.name == name)).rowcount == 1


def list_subscriptions(connection: Connection) -> list[Subscription]:
    """All, by name."""
    rows = connection.execute(select(SUBSCRIPTIONS).order_by(SUBSCRIPTIONS.c.name))
    return [_subscription(row._asdict()) for row in rows]


def subscription_named(connection: Connection, name: str) -> Subscription | None:
    row = connection.execute(select(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.name == name)).one_or_none()
    return None if row is None else _subscription(row._asdict())


def _subscription(row: dict[str, Any]) -> Subscription:
    of = msgspec.json.decode(row.pop("events"))
    secret = bytes(row.pop("secret")).decode()
    same = {str(name): value for name, value in row.items()}
    return Subscription(**same, events=tuple(of["events"]), chains=tuple(of["chains"]), secret=secret)


def add_notifications(connection: Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(NOTIFICATIONS), rows)


def due_notifications(connection: Connection, now: float, limit: int) -> list[Notification]:
    """What is to be sent by now, oldest first."""
    return [_notification(row) for row in connection.execute(_DUE, {"now": now, "most": limit})]


_DUE = (
    select(NOTIFICATIONS)
    .where(NOTIFICATIONS.c.done.is_(None), NOTIFICATIONS.c.next_at <= bindparam("now"))
    .order_by(NOTIFICATIONS.c.number)
    .limit(bindparam("most", type_=Integer))
)


def notifications_of(
    connection: Connection, name: str, *, before: int = 0, limit: int = 100
) -> list[Notification]:
    """What was sent to a subscriber, and what was not, the newest first."""
    query = select(NOTIFICATIONS).where(NOTIFICATIONS.c.subscription == name)
    query = query.where(NOTIFICATIONS.c.number < before) if before else query
    rows = connection.execute(query.order_by(NOTIFICATIONS.c.number.desc()).limit(limit))
    return [_notification(row) for row in rows]


def set_result(connection: Connection, number: int, values: dict[str, Any]) -> None:
    """Store the result of an attempt."""
    connection.execute(update(NOTIFICATIONS).where(NOTIFICATIONS.c.number == number).values(values))


def revive(connection: Connection, name: str, now: float) -> int:
    """Send dead notifications again; return how many."""
    dead = NOTIFICATIONS.c.done.is_(None) & NOTIFICATIONS.c.next_at.is_(None)
    mine = (NOTIFICATIONS.c.subscription == name) & dead
    return connection.execute(update(NOTIFICATIONS).where(mine).values(next_at=now, attempts=0)).rowcount


def counts(connection: Connection) -> dict[str, dict[str, Any]]:
    """Of each subscriber: how much waits and is dead, when something last arrived, and the newest problem."""
    table = NOTIFICATIONS.c
    columns = (
        table.subscription,
        func.count().filter(table.done.is_(None) & table.next_at.is_not(None)),
        func.count().filter(table.done.is_(None) & table.next_at.is_(None)),
        func.max(table.done),
    )
    found: dict[str, dict[str, Any]] = {}
    for name, waiting, dead, last in connection.execute(select(*columns).group_by(table.subscription)):
        found[str(name)] = {"waiting": int(waiting), "dead": int(dead), "last": last, "problem": ""}
    newest = (
        select(table.subscription, table.problem)
        .where(table.done.is_(None), table.problem != "")
        .order_by(table.number)
    )
    for name, problem in connection.execute(newest.limit(10_000)):
        found[str(name)]["problem"] = str(problem)
    return found


def _notification(row: Any) -> Notification:
    given = {str(name): value for name, value in row._asdict().items()}
    return Notification(**{**given, "body": bytes(given["body"])})
