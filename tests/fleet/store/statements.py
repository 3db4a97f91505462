"""Notes the statements that a database of SQLite runs, with the values that they run with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from saltern.fleet.store.database import Connection, Database

Note = Callable[[str], object] | None


def trace(connection: Connection, note: Note) -> None:
    """Call ``note`` with each statement of this connection; None ends it."""
    driver: Any = connection.connection.driver_connection
    driver.set_trace_callback(note)


@contextmanager
def noted(database: Database, note: Callable[[str], object]) -> Iterator[None]:
    """Call ``note`` with each statement of any connection."""

    def begin(driver: Any, *_more: object) -> None:
        driver.set_trace_callback(note)

    def end(driver: Any, *_more: object) -> None:
        driver.set_trace_callback(None)

    with database.look() as kept:
        trace(kept, note)
    event.listen(database.engine, "checkout", begin)
    event.listen(database.engine, "checkin", end)
    try:
        yield
    finally:
        event.remove(database.engine, "checkout", begin)
        event.remove(database.engine, "checkin", end)
        with database.look() as kept:
            trace(kept, None)
