"""Events that people and programs send over the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.events import NewEvent, newest_event, store_events


def sent_event(user: str, tag: str, data: Mapping[str, Any], token: str, now: float) -> NewEvent:
    """The event, as of `salt-run event.send` in Salt: the data is the whole payload; the sender is added."""
    uid = f"user {user}/{token}" if token else None
    return NewEvent(tag=tag, data={**data, "user": user}, at=now, uid=uid)


def store_sent(database: Database, event: NewEvent) -> int:
    """Store the event with its sender; return its number."""
    with database.write() as connection:
        return _store(connection, event)


def _store(connection: Connection, event: NewEvent) -> int:
    store_events(connection, [event])
    detail = {"tag": event.tag}
    audit.append(connection, str(event.data["user"]), "event.send", detail, event.at)
    return newest_event(connection)
